import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type AnswerTo, ask } from '../api/ask.ts'
import type { Pipeline, Task } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { CureButton, Marked } from '../explain/cure.tsx'
import { Explanation } from '../explain/explanation.tsx'
import { Asked, Band, isUnfinished, Moment, Page, State } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'
import { Figure, NoGrade } from '../projects/figure.tsx'
import { bandOf, KEYS, type KeyName, periods, useExplained } from '../projects/keys.ts'
import { FailedTasks } from '../runs/failed-tasks.tsx'
import { failedWords } from '../runs/failed-words.ts'
import { useRun } from '../runs/live.ts'
import type { StartView } from './address.ts'

const EVERY_MS = 1_500
const MONTHS = 6

interface ProjectProps {
  readonly project: string
}
interface NumbersStepProps extends ProjectProps {
  readonly view: StartView
  go(next: StartView): void
}

/** Shows the run while it continues, and then the numbers. */
export function NumbersStep({ project: name, view, go }: NumbersStepProps) {
  const project = useQuery(question('GET /projects/{projectName}', { path: { projectName: name } }))
  const blueprintId = project.data?.blueprint?.id
  const runs = useQuery({
    ...question('GET /blueprints/{id}/pipelines', { path: { id: blueprintId ?? 0 }, query: { pageSize: 1 } }),
    enabled: blueprintId !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.pipelines.some(({ status }) => isUnfinished(status)) ? EVERY_MS : false,
  })
  const run = runs.data?.pipelines[0]
  const isDone = run !== undefined && ['TASK_COMPLETED', 'TASK_PARTIAL'].includes(run.status)
  return (
    <Page
      title={isDone ? `The first numbers of ${name}` : `Collecting ${name}`}
      says={
        isDone
          ? 'The last six months. Click a number to see what it is made of, and what it leaves out.'
          : 'You can leave this page: the run continues, and the line at the top says how far it is.'
      }
      actions={
        isDone && (
          <Button component={Link} to="/projects/$name" params={{ name } as never}>
            Open the project
          </Button>
        )
      }
    >
      <Asked of={project}>
        {() => (
          <Asked of={runs}>
            {() =>
              run === undefined ? (
                <NotBegun blueprintId={blueprintId ?? 0} />
              ) : isDone ? (
                <Numbers project={name} run={run} view={view} go={go} />
              ) : (
                <Going run={run} />
              )
            }
          </Asked>
        )}
      </Asked>
    </Page>
  )
}

function NotBegun({ blueprintId }: { readonly blueprintId: number }) {
  const start = useMutation({
    mutationFn: () => ask('POST /blueprints/{id}/trigger', { path: { id: blueprintId }, body: {} }),
    onSuccess: () => refresh('GET /blueprints/{id}/pipelines', 'GET /pipelines'),
  })
  return (
    <section className="empty">
      <h2>Nothing is collected yet</h2>
      <p>The project is there; collecting did not begin.</p>
      {start.error && <p className="bad">{start.error.message}</p>}
      <Button loading={start.isPending} onClick={() => start.mutate()}>
        Collect now
      </Button>
    </section>
  )
}

/** Describes the subject of a task in readable form. */
function aboutOf({ plugin, options }: Task): string {
  const { name, fullName, boardId, projectName, projectSlug } = options as Record<string, unknown>
  const about = [fullName, name, projectSlug, projectName, boardId].find((each) => each !== undefined && each !== '')
  return about === undefined ? plugin : `${about} · ${plugin}`
}

function Going({ run: { id, ...known } }: { readonly run: Pipeline }) {
  const { run, tasks } = useRun(id)
  const { status, finishedTasks, totalTasks, message } = run.data ?? known
  const isGoing = isUnfinished(status)
  const again = useMutation({
    mutationFn: () => ask('POST /pipelines/{id}/rerun', { path: { id } }),
    onSuccess: () => refresh('GET /blueprints/{id}/pipelines', 'GET /pipelines', 'GET /pipelines/{id}/tasks'),
  })
  const share = totalTasks > 0 ? finishedTasks / totalTasks : 0
  return (
    <section className="card" aria-label="Progress">
      <div className="row" style={{ marginBottom: 12 }}>
        <h2>
          {isGoing ? (
            `${finishedTasks} of ${counted(totalTasks, 'task')} ended${failedWords(tasks.data?.tasks ?? [])}`
          ) : (
            <State of={status} />
          )}
        </h2>
        <Link to="/runs/$id" params={{ id: String(id) }}>
          Show the run
        </Link>
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="The whole run"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        style={{ marginBottom: 16 }}
      >
        <i style={{ width: `${Math.max(2, share * 100)}%` }} />
      </div>
      {!isGoing && (
        <div style={{ marginBottom: 16 }}>
          <p className="bad" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', marginBottom: 12 }}>
            {message || 'It was cancelled.'}
          </p>
          {again.error && <p className="bad">{again.error.message}</p>}
          <Button loading={again.isPending} onClick={() => again.mutate()}>
            Try again
          </Button>
        </div>
      )}
      <ul className="ticks small">
        {(tasks.data?.tasks ?? []).toReversed().map((task) => (
          <li key={task.id} className="row">
            <span className="cut">
              {aboutOf(task)}
              {task.progressDetail && task.status === 'TASK_RUNNING' && (
                <span className="quiet">
                  {' '}
                  {task.progressDetail.subTaskName}
                  {task.progressDetail.finishedRecords > 0 && `, ${count(task.progressDetail.finishedRecords)}`}
                  {task.progressDetail.waitingUntil && (
                    <>
                      , waits for the quota until <Moment at={task.progressDetail.waitingUntil} />
                    </>
                  )}
                </span>
              )}
            </span>
            <State of={task.status} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface NumbersProps extends NumbersStepProps {
  readonly run: Pipeline
}

function Numbers({ project, run, view, go }: NumbersProps) {
  const { explain, reason, ...rest } = view
  return (
    <>
      {run.status === 'TASK_PARTIAL' && (
        <>
          <div className="notice">
            <span>Some of it could not be collected, so the numbers are not complete yet.</span>
            <Link to="/runs/$id" params={{ id: String(run.id) }}>
              Show the run
            </Link>
          </div>
          <FailedTasks filter={{ project }} />
        </>
      )}
      <section className="keys">
        {KEYS.map(({ name, title }) => (
          <Key key={name} metric={name} title={title} project={project} onOpen={() => go({ ...rest, explain: name })} />
        ))}
      </section>
      <Explanation
        project={{ name: project }}
        metric={explain}
        reason={reason}
        period={periods(MONTHS).current}
        months={MONTHS}
        onClose={() => go(rest)}
        onReason={(chosen) => go({ ...rest, ...(explain && { explain }), ...(chosen && { reason: chosen }) })}
      />
    </>
  )
}

type Explained = AnswerTo<'GET /v1/metrics/{metric}/explanation'>

interface KeyProps extends ProjectProps {
  readonly metric: KeyName
  readonly title: string
  onOpen(): void
}

function Key({ metric, title, project, onOpen }: KeyProps) {
  const explained = useExplained(metric, project, MONTHS)
  const metrics = useQuery({ ...question('GET /v1/metrics'), staleTime: Number.POSITIVE_INFINITY })
  const { unit = '' } = metrics.data?.find(({ name }) => name === metric) ?? {}
  return (
    <article className="card key" aria-label={title}>
      <header>{title}</header>
      <Asked of={explained} lines={2}>
        {(data) =>
          data.value === null || data.counted === 0 ? (
            <WhyNot explained={data} project={project} />
          ) : (
            <>
              <button
                type="button"
                className="value number open-number"
                title={`What ${title.toLowerCase()} is made of`}
                onClick={onOpen}
              >
                <Figure value={data.value} unit={unit} inWords={data.inWords} />
              </button>
              <Grade explained={data} />
              <p className="small quiet">{SENTENCES[metric](data.counted, data.value)}</p>
            </>
          )
        }
      </Asked>
    </article>
  )
}

const SENTENCES: Readonly<Record<KeyProps['metric'], (amount: number, value: number) => string>> = {
  'change-lead-time': (amount) =>
    `Half of ${counted(amount, 'pull request')} were in production within this time of their first commit.`,
  'deployment-frequency': (amount, value) =>
    value === 0
      ? 'More than half of the weeks, or just half of them, had no deployment.'
      : `In half of the weeks something went into production on at least this many days; ${counted(amount, 'deployment')} in all.`,
  'change-failure-rate': (amount, value) =>
    `${count(Math.round(value * amount))} of ${counted(amount, 'deployment')} led to an incident.`,
  'failed-deployment-recovery-time': (amount) => `Half of ${counted(amount, 'incident')} were over within this time.`,
}

function Grade({ explained }: { readonly explained: Explained }) {
  const band = bandOf(explained)
  return band ? <Band band={band} /> : <NoGrade of={explained} />
}

/** Says why there is no number, and what to do about it. */
function WhyNot({ explained, project }: { readonly explained: Explained; readonly project: string }) {
  const { findings, leftOut, total, places } = explained
  const [finding] = findings
  const [most] = leftOut.toSorted((one, other) => other.count - one.count)
  return (
    <>
      <p style={{ fontWeight: 500 }}>No number yet</p>
      <div className="small quiet stack" style={{ gap: 8, overflowWrap: 'anywhere' }}>
        {finding ? (
          <>
            <p>
              <Marked text={finding.seen} />
            </p>
            <p>
              <Marked text={finding.remedy} />
            </p>
            <CureButton cure={finding.cure} project={{ name: project }} places={places} months={MONTHS} />
          </>
        ) : most && total > 0 ? (
          <p>
            {count(total)} were seen, none of which counts: {most.meaning} {most.remedy}
          </p>
        ) : (
          <p>Nothing was collected that it could be made of.</p>
        )}
      </div>
    </>
  )
}
