import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { question } from '../api/queries.ts'
import { Failure, Moment } from '../parts/parts.tsx'
import { StandingWords } from '../parts/standing.tsx'
import { counted } from '../parts/words.ts'

const EVERY_MS = 15_000
const MOST_RUNS = 5

/** Lists what needs attention, each with a link; shows a quiet sentence if nothing does. */
export function Attention() {
  const asked = useQuery({ ...question('GET /v1/attention'), refetchInterval: EVERY_MS })
  const { data } = asked
  if (!data) return asked.isError ? <Failure error={asked.error} again={() => void asked.refetch()} /> : null
  const { standing, isWhole, hasRun, runs, connections, gaps, quarantined } = data
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
    ...runs.slice(0, MOST_RUNS).map(({ id, name, project, status, message, finishedAt }) => (
      <Item
        key={`run ${id}`}
        tag={status === 'TASK_FAILED' ? ['bad', 'failed'] : ['attention', 'partly done']}
        link={
          <Link to="/runs/$id" params={{ id: String(id) }}>
            Show run
          </Link>
        }
      >
        The last run of <b>{project || name}</b> {status === 'TASK_FAILED' ? 'failed' : 'was only partly done'},{' '}
        <Moment at={finishedAt} />
        {message ? ': ' : '.'}
        {message && <span className="quiet">{message}</span>}
      </Item>
    )),
    ...connections.map(({ plugin, title, connectionId, name, message, failedRun, scopes }) => (
      <Item
        key={`connection ${plugin} ${connectionId}`}
        tag={['bad', 'connection']}
        link={
          <Link to="/sources/$plugin/$id" params={{ plugin, id: String(connectionId) }}>
            Show connection
          </Link>
        }
      >
        {failedRun === null ? (
          <>
            {title} connection <b>{name}</b> does not work{scopes > 0 && `, ${counted(scopes, 'scope')} wait`}:{' '}
          </>
        ) : (
          <>
            The last collection through {title} connection <b>{name}</b> failed:{' '}
          </>
        )}
        <span className="quiet">{message}</span>
      </Item>
    )),
    ...(gaps.count > 0
      ? [
          <Item key="gaps" tag={['attention', 'gaps']} link={<Link to="/runs/health">Show what is missing</Link>}>
            {counted(gaps.count, 'list')} of {counted(gaps.scopes, 'scope')} could not be collected whole: numbers rest
            on less than there is.
          </Item>,
        ]
      : []),
    ...(quarantined > 0
      ? [
          <Item
            key="aside"
            tag={['attention', 'put aside']}
            link={
              <Link to="/runs/health" search={{ show: 'aside' }}>
                Show them
              </Link>
            }
          >
            {counted(quarantined, 'record')} could not be read and {quarantined === 1 ? 'was' : 'were'} put aside.
          </Item>,
        ]
      : []),
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
      {runs.length > MOST_RUNS && (
        <p className="small quiet" style={{ marginTop: 8 }}>
          <Link to="/runs" search={{ state: 'failed' }}>
            {counted(runs.length - MOST_RUNS, 'more run')} failed
          </Link>
        </p>
      )}
    </section>
  )
}

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
  readonly children: ReactNode
}

const Item = ({ tag: [look, word], link, children }: ItemProps) => (
  <li>
    <span className={`tag ${look}`}>{word}</span>
    <p>{children}</p>
    {link}
  </li>
)
