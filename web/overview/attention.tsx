import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Marked } from '../explain/cure.tsx'
import { addressOf, LinkTo } from '../parts/anywhere.tsx'
import { Failure } from '../parts/parts.tsx'
import { StandingWords } from '../parts/standing.tsx'

/** Causes are looked for in all collected data, which does not change by the second. */
const EVERY_MS = 60_000

const OTHER = ['attention', 'attention'] as const
/** Red for what stops numbers from coming in. */
const TAGS: ReadonlyMap<string, readonly [look: string, word: string]> = new Map([
  ['connection', ['bad', 'connection']],
  ['run', ['bad', 'run']],
  ['source', ['bad', 'stands still']],
  ['list', ['attention', 'missing']],
  ['record', ['attention', 'put aside']],
  ['rule', ['attention', 'no rule']],
  ['incident', ['attention', 'open']],
  ['waiting', ['attention', 'waiting']],
  ['target', ['attention', 'target lost']],
])

/** Lists what needs attention, each with a link; shows a quiet sentence if nothing does. */
export function Attention() {
  const asked = useQuery({ ...question('GET /v1/attention'), refetchInterval: EVERY_MS })
  const { data } = asked
  if (!data) return asked.isError ? <Failure error={asked.error} again={() => void asked.refetch()} /> : null
  const { standing, isWhole, hasRun, causes } = data
  const items: ReactNode[] = [
    ...standing.map((each) => (
      <Item
        key={`standing ${each.cause} ${each.host} ${each.sentence}`}
        tag={each.severity === 'critical' ? ['bad', 'stands still'] : ['attention', 'may stand still']}
        link={<StandingLink of={each.runs} />}
      >
        <StandingWords of={each} />
      </Item>
    )),
    ...causes.map((each) => (
      <Item
        key={`${each.kind} ${each.sentence}`}
        tag={TAGS.get(each.kind) ?? OTHER}
        link={<CauseLink of={each} />}
        details={each.details}
      >
        {each.sentence} <span className="quiet">{each.remedy}</span>
      </Item>
    )),
  ]
  return (
    <section aria-labelledby="attention" style={{ marginBottom: 32 }}>
      <h2 id="attention" style={{ marginBottom: 12 }}>
        Needs attention
      </h2>
      {items.length === 0 ? (
        <p className="quiet">
          {!isWhole
            ? 'The database does not answer, so nothing is known of the last runs.'
            : hasRun
              ? 'Nothing: the last runs went well, and nothing is missing.'
              : 'Nothing so far: no run has ended yet.'}
        </p>
      ) : (
        <ul className="card hands">{items}</ul>
      )}
    </section>
  )
}

type Cause = AnswerTo<'GET /v1/attention'>['causes'][number]

/** Leads to where the cause is mended. */
const CauseLink = ({ of: { page } }: { readonly of: Cause }) =>
  page === null ? null : (
    <LinkTo at={addressOf(page)}>{page.startsWith('/runs/health') ? 'Show what is missing' : 'Show it'}</LinkTo>
  )

/** Links to the run that is held up, or to all runs. */
const StandingLink = ({ of: runs }: { readonly of: readonly number[] | null }) =>
  runs?.length === 1 ? (
    <Link to="/runs/$id" params={{ id: String(runs[0]) }}>
      Show run
    </Link>
  ) : (
    <Link to="/runs">Show runs</Link>
  )

interface ItemProps {
  readonly tag: readonly [look: string, word: string]
  readonly link: ReactNode
  /** The raw errors, folded below the sentence. */
  readonly details?: readonly string[]
  readonly children: ReactNode
}

const Item = ({ tag: [look, word], link, details = [], children }: ItemProps) => (
  <li>
    <span className={`tag ${look}`}>{word}</span>
    <div className="says">
      <p>{children}</p>
      {details.length > 0 && (
        <details className="small quiet">
          <summary>Details</summary>
          {details.map((detail) => (
            <p key={detail}>
              <Marked text={detail} />
            </p>
          ))}
        </details>
      )}
    </div>
    {link}
  </li>
)
