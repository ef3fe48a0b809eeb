import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { CureButton, Marked } from '../explain/cure.tsx'
import { ButtonTo, pathOf } from '../parts/anywhere.tsx'
import { CollectedBy } from '../parts/collected-by.tsx'
import { PartialData } from '../parts/partial-data.tsx'
import { isUnfinished, Moment, State } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'
import { Counting, NumberChanges } from './counting.tsx'
import { Course } from './course.tsx'
import { KeyCard } from './key-card.tsx'
import { KEYS, useExplained, useKeys } from './keys.ts'

interface FourKeysProps {
  readonly project: Project
  readonly months: number
}

export function FourKeys({ project, months }: FourKeysProps) {
  const { name, blueprint } = project
  const { now, before } = useKeys(name, months)
  const isBare = blueprint?.mode === 'NORMAL' && blueprint.connections.length === 0
  const of = (answer: typeof now, metric: string) =>
    answer.data?.projects[0]?.keys.find((each) => each.metric === metric)
  return (
    <>
      {isBare && <FirstThing project={name} />}
      {!isBare && <PartialData project={name} />}
      <NumberChanges project={name} />
      <section className="keys">
        {KEYS.map((about) => (
          <KeyCard
            key={about.name}
            about={about}
            project={name}
            months={months}
            now={of(now, about.name)}
            before={of(before, about.name)}
            failure={now.error}
          />
        ))}
      </section>
      <Counting project={name} keys={now.data?.projects[0]?.keys} />
      {!isBare && (
        <section className="beside" style={{ marginBottom: 16 }}>
          <Course project={name} months={months} />
          <LeftOut project={project} months={months} />
        </section>
      )}
      {blueprint && <LastRun project={name} blueprintId={blueprint.id} />}
    </>
  )
}

/** Says what must be done before there can be numbers. */
const FirstThing = ({ project }: { readonly project: string }) => (
  <div className="notice">
    <span>
      <b>Nothing belongs to this project yet.</b> Choose its repositories, boards and builds; then collect.
    </span>
    <ButtonTo at={{ path: pathOf`/projects/${project}`, search: { tab: 'blueprint' } }}>
      Choose what is collected
    </ButtonTo>
  </div>
)

const MOST = 6
/** These reasons say nothing about the chosen range. */
const OF_ANOTHER_TIME: ReadonlySet<string> = new Set([
  'outside_time_range',
  'deployment_outside_time_range',
  'other_time',
  'created_after_range',
])

/** Items that do not count, the largest group first, each with what to do about it. */
function LeftOut({ project, months }: FourKeysProps) {
  const [lead, frequency, failure, recovery] = KEYS.map(({ name }) => name)
  // Hooks must always be called in the same number and order.
  const answers = [
    useExplained(lead ?? '', project.name, months),
    useExplained(frequency ?? '', project.name, months),
    useExplained(failure ?? '', project.name, months),
    useExplained(recovery ?? '', project.name, months),
  ]
  const known = answers.flatMap(({ data }) => (data ? [data] : []))
  const places = known[0]?.places ?? []
  const findings = [...new Map(known.flatMap((each) => each.findings).map((each) => [each.seen, each])).values()]
  const reasons = known.flatMap(({ metric, leftOut }) =>
    leftOut.filter(({ reason }) => !OF_ANOTHER_TIME.has(reason)).map((each) => ({ ...each, metric })),
  )
  // Two of the keys are based on deployments, so their reasons would appear twice.
  const unique = [...new Map(reasons.map((each) => [`${each.reason} ${each.count}`, each])).values()].sort(
    (one, other) => other.count - one.count,
  )
  const isDone = answers.every(({ isPending }) => !isPending)
  return (
    <article className="card" aria-label="What is not counted">
      <h2 style={{ marginBottom: 8 }}>What is not counted</h2>
      <div className="lines small">
        {findings.slice(0, MOST).map(({ seen, remedy, cure }) => (
          <div key={seen}>
            <p>
              <Marked text={seen} />
            </p>
            <p className="quiet" style={{ margin: '2px 0 8px' }}>
              <Marked text={remedy} />
            </p>
            <CureButton cure={cure} project={project} places={places} months={months} />
          </div>
        ))}
        {unique.slice(0, Math.max(0, MOST - findings.length)).map(({ metric, reason, meaning, remedy, count: own }) => (
          <div key={`${metric} ${reason}`}>
            <div className="row">
              <Link
                to="/projects/$name"
                params={{ name: project.name }}
                search={(view) => ({ ...view, explain: metric, reason })}
              >
                {meaning}
              </Link>
              <b className="number">{count(own)}</b>
            </div>
            <span className="quiet">{remedy}</span>
          </div>
        ))}
        {isDone && findings.length + unique.length === 0 && (
          <p className="quiet">Everything that was collected in this range counts.</p>
        )}
      </div>
    </article>
  )
}

const EVERY_MS = 4_000

function LastRun({ project, blueprintId }: { readonly project: string; readonly blueprintId: number }) {
  const { data } = useQuery({
    ...question('GET /blueprints/{id}/pipelines', { path: { id: blueprintId }, query: { pageSize: 1 } }),
    refetchInterval: ({ state }) =>
      state.data?.pipelines.some(({ status }) => isUnfinished(status)) ? EVERY_MS : false,
  })
  const run = data?.pipelines[0]
  const isFirst = data !== undefined && run === undefined
  const other = useQuery({ ...question('GET /v1/partial-data', { query: { project } }), enabled: isFirst })
  if (isFirst) return other.isPending ? null : <NoRun collectedBy={other.data?.collectedBy ?? null} />
  if (!run) return null
  return (
    <p className="small quiet">
      Last run <State of={run.status} /> <Moment at={run.finishedAt ?? run.beganAt ?? run.createdAt} />.{' '}
      <Link to="/runs/$id" params={{ id: String(run.id) }}>
        Show run
      </Link>
    </p>
  )
}

const NoRun = ({ collectedBy }: Pick<AnswerTo<'GET /v1/partial-data'>, 'collectedBy'>) => (
  <p className="small quiet">
    {collectedBy ? (
      <>
        This project has not run yet. <CollectedBy of={collectedBy} />{' '}
      </>
    ) : (
      'Nothing was collected yet: '
    )}
    <b>Collect now</b> {collectedBy ? 'runs it' : 'begins'}.
  </p>
)
