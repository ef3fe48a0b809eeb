/** A JSON document as a tree that opens and closes. */
import type { ReactNode } from 'react'

const OPEN_DEPTH = 1
/** The most elements shown of one list or object. */
const MOST = 200

export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div className="json mono">
      <Node name={null} value={value} depth={0} />
    </div>
  )
}

interface NodeProps {
  readonly name: string | null
  readonly value: unknown
  readonly depth: number
}

function Node({ name, value, depth }: NodeProps): ReactNode {
  const label = name === null ? null : <span className="quiet">{name}: </span>
  if (value === null || typeof value !== 'object')
    return (
      <div className="leaf">
        {label}
        <span className={value === null ? 'faint' : typeof value === 'string' ? 'text' : 'value'} dir="auto">
          {typeof value === 'string' ? `“${value}”` : String(value)}
        </span>
      </div>
    )
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((each, index) => [String(index), each] as const)
    : Object.entries(value)
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0)
    return (
      <div className="leaf">
        {label}
        <span className="faint">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    )
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        {label}
        <span className="faint">{size}</span>
      </summary>
      <div className="inside">
        {entries.slice(0, MOST).map(([key, each]) => (
          <Node key={key} name={key} value={each} depth={depth + 1} />
        ))}
        {entries.length > MOST && <div className="faint">and {entries.length - MOST} more</div>}
      </div>
    </details>
  )
}
