import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useRef } from 'react'
import { ask } from '../api/ask.ts'
import type { Pipeline, Task, TaskSubject } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, isUnfinished, Moment, Page, State } from '../parts/parts.tsx'
import { StandingWords } from '../parts/standing.tsx'
import { counted, duration } from '../parts/words.ts'
import { failedWords } from './failed-words.ts'
import { useRun } from './live.ts'
import './runs.css'
import { TaskDetails } from './task.tsx'
import { placeOf, TaskList } from './task-list.tsx'

const place = getRouteApi('/runs/$id')

export function RunPage() {
  const id = Number(place.useParams().id)
  const { run, tasks, isGoing } = useRun(id)
  const all = tasks.data?.tasks ?? NONE
  // Tasks get new ids when they are run again.
  const attempts = all.reduce((newest, task) => Math.max(newest, task.id), 0)
  const subjects = useQuery({
    ...question('GET /v1/pipelines/{id}/subjects', { path: { id } }),
    queryKey: ['GET /v1/pipelines/{id}/subjects', { path: { id } }, attempts],
    placeholderData: (before) => before,
  })
  const byTask = useMemo(
    () => new Map(subjects.data?.subjects.map((subject) => [placeOf(subject.stage, subject.column), subject])),
    [subjects.data],
  )
  return (
    <Page
      title={run.data ? `${run.data.name || 'A plan by hand'}, run ${id}` : `Run ${id}`}
      says={run.data ? <Summary run={run.data} tasks={all} /> : ' '}
      actions={run.data && <Actions run={run.data} isGoing={isGoing} />}
    >
      {run.failureCount > 0 && run.data && (
        <p className="notice" role="status">
          The server does not answer. What you see is what it said last; this page continues when it is back.
        </p>
      )}
      <Asked of={run}>
        {(data) => (
          <>
            {isGoing && <StandsStill id={id} />}
            <Outcome run={data} tasks={all} />
            <Asked of={tasks}>{() => <Parts tasks={all} subjects={byTask} run={data} />}</Asked>
          </>
        )}
      </Asked>
    </Page>
  )
}

const NONE: readonly Task[] = []
const LOOK_MS = 15_000

/** Says why the run does not continue although none of its tasks has failed. */
function StandsStill({ id }: { readonly id: number }): ReactNode {
  const { data } = useQuery({
    ...question('GET /v1/pipelines/{id}/standing', { path: { id } }),
    refetchInterval: LOOK_MS,
  })
  return data?.standing.map((each) => (
    <div key={`${each.cause} ${each.host} ${each.sentence}`} className="notice" role="status">
      <span>
        <StandingWords of={each} />
      </span>
    </div>
  ))
}

/** The task that the user should look at first. */
const first = (tasks: readonly Task[]) =>
  tasks.find(({ status }) => status === 'TASK_FAILED') ??
  tasks.find(({ status }) => status === 'TASK_RUNNING') ??
  tasks[0]

const TELLING = ['TASK_RUNNING', 'TASK_FAILED']

interface PartsProps {
  readonly run: Pipeline
  readonly tasks: readonly Task[]
  readonly subjects: ReadonlyMap<string, TaskSubject>
}

function Parts({ run, tasks, subjects }: PartsProps) {
  const { task: wanted } = place.useSearch()
  const inOrder = useMemo(
    () =>
      tasks.toSorted(
        (one, other) => one.pipelineRow - other.pipelineRow || one.pipelineCol - other.pipelineCol || one.id - other.id,
      ),
    [tasks],
  )
  // The task that the user is reading stays, as long as it runs or has failed.
  const shown = useRef<string>(undefined)
  const at = (place: string | undefined) =>
    inOrder.find(({ pipelineRow, pipelineCol }) => placeOf(pipelineRow, pipelineCol) === place)
  const kept = at(shown.current)
  const chosen = at(wanted) ?? (kept && TELLING.includes(kept.status) ? kept : first(inOrder))
  shown.current = chosen && placeOf(chosen.pipelineRow, chosen.pipelineCol)
  if (!chosen) return null
  return (
    <div className="stages">
      <TaskList tasks={inOrder} subjects={subjects} chosen={chosen} />
      <TaskDetails
        key={chosen.id}
        task={chosen}
        subject={subjects.get(placeOf(chosen.pipelineRow, chosen.pipelineCol))}
        mayRunAgain={!isUnfinished(run.status)}
      />
    </div>
  )
}

function Summary({ run, tasks }: { readonly run: Pipeline; readonly tasks: readonly Task[] }) {
  const { status, finishedTasks, totalTasks, spentSeconds, beganAt, finishedAt, blueprintId, interruptions } = run
  const ends = tasks.flatMap(({ progressDetail }) => progressDetail?.estimatedEnd ?? [])
  const end = ends.sort().at(-1)
  return (
    <>
      <State of={status} /> {finishedTasks} of {counted(totalTasks, 'task')}{' '}
      {status === 'TASK_COMPLETED' ? 'done' : `ended${failedWords(tasks)}`}
      {isUnfinished(status) ? (
        <>
          {beganAt ? (
            <>
              , began <Moment at={beganAt} />
            </>
          ) : (
            ', waits for its turn'
          )}
          {end && (
            <>
              , what runs now is done <Moment at={end} />
            </>
          )}
        </>
      ) : (
        <>
          {spentSeconds > 0 && <> in {duration(spentSeconds / 60)}</>}, <Moment at={finishedAt} />
        </>
      )}
      {interruptions > 0 && `, interrupted ${counted(interruptions, 'time')}`}
      {blueprintId > 0 && <ProjectOf blueprintId={blueprintId} />}
    </>
  )
}

function ProjectOf({ blueprintId }: { readonly blueprintId: number }): ReactNode {
  const { data } = useQuery({ ...question('GET /blueprints/{id}', { path: { id: blueprintId } }), retry: false })
  if (!data?.projectName) return null
  return (
    <>
      {' · '}
      <Link to="/projects/$name" params={{ name: data.projectName }}>
        {data.projectName}
      </Link>
    </>
  )
}

/** The result of the run, if its state does not make it clear. */
function Outcome({ run, tasks }: { readonly run: Pipeline; readonly tasks: readonly Task[] }): ReactNode {
  if (isUnfinished(run.status) || run.status === 'TASK_COMPLETED') return null
  const failed = tasks.filter(({ status }) => status === 'TASK_FAILED').length
  const sentence =
    run.status === 'TASK_CANCELLED'
      ? 'This run was cancelled. What it had collected stays, and the next run continues from there.'
      : failed > 0
        ? `${counted(failed, 'task')} failed. What was collected before stays; run the failed ones again when their cause is mended.`
        : run.message
  return sentence ? (
    <div className="notice" role="status">
      <span>{sentence}</span>
    </div>
  ) : null
}

function Actions({
  run: { id, status, finishedTasks, totalTasks },
  isGoing,
}: {
  readonly run: Pipeline
  readonly isGoing: boolean
}) {
  const may = useMay('operator')
  const changed = () =>
    refresh('GET /pipelines', 'GET /pipelines/{id}', 'GET /pipelines/{id}/tasks', 'GET /v1/pipelines/{id}/subjects')
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
  return (
    <>
      {finishedTasks + Number(!isGoing) > 0 && (
        <Button variant="subtle" component="a" href={`/api/pipelines/${id}/logging.tar.gz`} download>
          Download logs
        </Button>
      )}
      {may && isGoing && (
        <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel run
        </Button>
      )}
      {may && !isGoing && status !== 'TASK_COMPLETED' && totalTasks > 0 && (
        <Button loading={rerun.isPending} onClick={() => rerun.mutate()}>
          {status === 'TASK_CANCELLED' ? 'Run the rest' : 'Run failed tasks again'}
        </Button>
      )}
    </>
  )
}
