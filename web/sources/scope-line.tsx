import type { RemoteScope } from '../api/description.ts'
import type { Choice } from './choice.ts'

interface ScopeLineProps {
  readonly scope: RemoteScope
  readonly choice: Choice
  readonly depth: number
}

/** One scope with a checkbox. Uses plain elements, because thousands of them appear while scrolling. */
export function ScopeLine({ scope, choice, depth }: ScopeLineProps) {
  const { id, fullName, archived } = scope
  const isFixed = choice.isFixed(id)
  return (
    <label className="line" style={{ paddingLeft: 8 + depth * 20 }}>
      <input
        type="checkbox"
        checked={isFixed || choice.isChosen(id)}
        disabled={isFixed}
        onChange={({ currentTarget }) => (currentTarget.checked ? choice.add([scope]) : choice.remove([id]))}
      />
      <span className="cut" title={fullName} style={{ flex: 1 }}>
        {fullName}
      </span>
      {archived && <span className="tag">archived</span>}
      {choice.known.has(id) && <span className="tag accent">added</span>}
    </label>
  )
}
