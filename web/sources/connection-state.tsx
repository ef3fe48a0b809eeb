import { Link } from '@tanstack/react-router'
import { Moment } from '../parts/parts.tsx'
import { count, exactly } from '../parts/words.ts'
import type { ConnectionOverview } from './asked.ts'

const WORDS = { works: ['works', 'good'], fails: ['fails', 'bad'], unknown: ['never tested', ''] } as const

/** Shows whether the connection worked when a test or a run last used it. */
export function ConnectionState({ of: { state, checkedAt } }: { readonly of: ConnectionOverview }) {
  const [word, look] = WORDS[state]
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      <span className={`tag ${look}`}>{word}</span>{' '}
      {checkedAt && (
        <span className="small quiet">
          <Moment at={checkedAt} />
        </span>
      )}
    </span>
  )
}

export function RequestsLeft({ of: { requestsLeft, countedAt } }: { readonly of: ConnectionOverview }) {
  if (requestsLeft === null) return <span className="faint">unknown</span>
  return (
    <span className="number" title={countedAt ? `As of ${exactly(countedAt)}` : undefined}>
      {count(requestsLeft)}
    </span>
  )
}

export function LastRun({ of: { pipelineId, collectedAt } }: { readonly of: ConnectionOverview }) {
  if (pipelineId === null) return <span className="faint">never</span>
  return (
    <Link to="/runs/$id" params={{ id: String(pipelineId) }}>
      <Moment at={collectedAt} />
    </Link>
  )
}
