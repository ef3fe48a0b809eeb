import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import type { Pipeline, Task } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { Asked, isUnfinished, Moment, Page, State } from '../parts/parts.tsx'
import { count, duration } from '../parts/words.ts'

const place = getRouteApi('/runs/$id')
const EVERY_MS = 1_500

export function RunPage() {
  const id = Number(place.useParams().id)
  const run = useQuery({
    ...question('GET /pipelines/{id}', { path: { id } }),
    refetchInterval: ({ state }) => (state.data && isUnfinished((state.data as Pipeline).status) ? EVERY_MS : false),
  })
  const isOver = run.data && !isUnfinished((run.data as Pipeline).status)
  const tasks = useQuery({
    ...question('GET /pipelines/{id}/tasks', { path: { id } }),
    refetchInterval: isOver ? false : EVERY_MS,
  })
  return (
    <Page
      title={run.data ? `${(run.data as Pipeline).name}, run ${id}` : `Run ${id}`}
      says={run.data ? <Summary run={run.data as Pipeline} /> : ' '}
      actions={run.data && <Actions run={run.data as Pipeline} />}
    >
      <Asked of={run}>
        {(data) => {
          const { message, status } = data as Pipeline
          return message && status !== 'TASK_COMPLETED' ? (
            <div className="notice" role="alert">
              <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{message}</span>
            </div>
          ) : null
        }}
      </Asked>
      <Asked of={tasks}>{({ tasks: all }) => <Stages tasks={all as readonly Task[]} />}</Asked>
    </Page>
  )
}

function Summary({ run }: { readonly run: Pipeline }) {
  const { status, finishedTasks, totalTasks, spentSeconds, beganAt } = run
  return (
    <>
      <State of={status} /> {finishedTasks} of {totalTasks} tasks
      {spentSeconds > 0 && <>, {duration(spentSeconds / 60)}</>}. Began <Moment at={beganAt} />.
    </>
  )
}

function Actions({ run: { id, status } }: { readonly run: Pipeline }) {
  const changed = () => refresh('GET /pipelines', 'GET /pipelines/{id}', 'GET /pipelines/{id}/tasks')
  const failed = ({ message }: Error) => notifications.show({ color: 'red', title: 'Nothing was changed', message })
  const cancel = useMutation({
    mutationFn: () => ask('DELETE /pipelines/{id}', { path: { id } }),
    onSuccess: changed,
    onError: failed,
  })
  const rerun = useMutation({
    mutationFn: () => ask('POST /pipelines/{id}/rerun', { path: { id } }),
    onSuccess: changed,
    onError: failed,
  })
  if (isUnfinished(status))
    return (
      <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel run
      </Button>
    )
  if (status === 'TASK_COMPLETED') return null
  return (
    <Button loading={rerun.isPending} onClick={() => rerun.mutate()}>
      Run failed tasks again
    </Button>
  )
}

function Stages({ tasks }: { readonly tasks: readonly Task[] }) {
  const stages = Map.groupBy(tasks, ({ pipelineRow }) => pipelineRow)
  return (
    <div style={{ display: 'grid', gap: 16 }}>
      {[...stages].map(([stage, own]) => (
        <section key={stage} className="card">
          <h2 style={{ marginBottom: 12 }}>Stage {stage}</h2>
          {own.map((task) => (
            <TaskRow key={task.id} task={task} />
          ))}
        </section>
      ))}
    </div>
  )
}

/** What a task is about, in the words of its options. */
function aboutOf({ plugin, options }: Task): string {
  const { name, fullName, repoId, boardId, projectName, projectSlug, url } = options as Record<string, unknown>
  const about = [fullName, name, projectSlug, projectName, repoId, boardId, url].find(
    (each) => each !== undefined && each !== '',
  )
  return about === undefined ? plugin : `${plugin} · ${about}`
}

function TaskRow({ task }: { readonly task: Task }) {
  const { status, progressDetail, message, spentSeconds } = task
  const share =
    status === 'TASK_COMPLETED'
      ? 1
      : progressDetail && progressDetail.totalSubTasks > 0
        ? progressDetail.finishedSubTasks / progressDetail.totalSubTasks
        : 0
  return (
    <div style={{ padding: '10px 0', borderTop: '1px solid var(--line)' }}>
      <div className="row">
        <span className="cut" title={aboutOf(task)}>
          {aboutOf(task)}
        </span>
        <span className="small quiet number" style={{ whiteSpace: 'nowrap' }}>
          {spentSeconds > 0 && `${duration(spentSeconds / 60)} `}
          <State of={status} />
        </span>
      </div>
      {status === 'TASK_RUNNING' && (
        <>
          <div
            className="progress"
            role="progressbar"
            aria-valuenow={Math.round(share * 100)}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-label={aboutOf(task)}
            style={{ margin: '6px 0' }}
          >
            <i style={{ width: `${share * 100}%` }} />
          </div>
          {progressDetail && <Doing detail={progressDetail} />}
        </>
      )}
      {message && (
        <p
          className={`small ${status === 'TASK_FAILED' ? 'bad' : 'quiet'}`}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {message}
        </p>
      )}
    </div>
  )
}

function Doing({ detail }: { readonly detail: NonNullable<Task['progressDetail']> }) {
  const { subTaskName, finishedRecords, totalRecords, requests, requestsLeft, waitingUntil, estimatedEnd } = detail
  const records =
    totalRecords > 0
      ? `${count(finishedRecords)} of ${count(totalRecords)}`
      : finishedRecords > 0
        ? count(finishedRecords)
        : ''
  return (
    <p className="small quiet">
      {[
        subTaskName,
        records,
        requests > 0 && `${count(requests)} requests`,
        requestsLeft !== null && `${count(requestsLeft)} left`,
      ]
        .filter(Boolean)
        .join(' · ')}
      {waitingUntil && (
        <>
          {' · waits for the quota until '}
          <Moment at={waitingUntil} />
        </>
      )}
      {estimatedEnd && (
        <>
          {' · done '}
          <Moment at={estimatedEnd} />
        </>
      )}
    </p>
  )
}
