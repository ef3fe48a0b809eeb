import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask } from '../api/ask.ts'
import type { Receipt, Task, TaskSubject } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { isUnfinished, State } from '../parts/parts.tsx'
import { count, counted, duration, exactly } from '../parts/words.ts'
import { ScopeHealth } from './scope-health.tsx'
import { Steps, stepWords } from './steps.tsx'
import { shareOf, subjectText, withoutTitle } from './task-list.tsx'
import { TaskLog } from './task-log.tsx'

const EVERY_MS = 1_500

interface TaskDetailsProps {
  readonly task: Task
  readonly subject: TaskSubject | undefined
  readonly mayRunAgain: boolean
}

export function TaskDetails({ task, subject, mayRunAgain }: TaskDetailsProps) {
  const isRunning = task.status === 'TASK_RUNNING'
  const steps = useQuery({
    ...question('GET /v1/tasks/{id}/steps', { path: { id: task.id } }),
    refetchInterval: isRunning ? EVERY_MS : false,
  })
  const source = subject?.source
  const receipts = useQuery({
    ...question('GET /v1/receipts', {
      query: { plugin: source?.plugin ?? '', connectionId: source?.connectionId ?? 1, scopeId: source?.scopeId ?? '' },
    }),
    enabled: source?.scopeId != null && task.beganAt !== null,
    refetchInterval: isRunning ? EVERY_MS : false,
  })
  const own = (receipts.data?.receipts ?? []).filter(isOf(task))
  const isFailed = task.status === 'TASK_FAILED'
  return (
    <section className="task-details" aria-label={subjectText(task, subject)}>
      {isFailed && <Trouble task={task} subject={subject} mayRunAgain={mayRunAgain} />}
      <article className="card">
        <div className="row" style={{ flexWrap: 'wrap' }}>
          <h2 className="cut" title={subjectText(task, subject)}>
            {subjectText(task, subject)}
          </h2>
          <span className="small quiet number">
            {task.spentSeconds > 0 && `${duration(task.spentSeconds / 60)} `}
            <State of={task.status} />
          </span>
        </div>
        <Doing task={task} />
        <Facts task={task} receipts={own} records={steps.data?.steps} />
        {steps.data && steps.data.steps.length > 0 ? (
          <Steps steps={steps.data.steps} task={task} receipts={own} />
        ) : (
          <p className="quiet">
            {isUnfinished(task.status) ? 'Its steps are known when it begins.' : 'It ended before its first step.'}
          </p>
        )}
      </article>
      {!isFailed && <Trouble task={task} subject={subject} mayRunAgain={mayRunAgain} />}
      {source?.scopeId != null && own.length > 0 && (
        <ScopeHealth place={{ ...source, scopeId: source.scopeId }} receipts={own} mayRun={mayRunAgain} />
      )}
      <TaskLog task={task} />
    </section>
  )
}

/** Only receipts from the time of the task belong to it. If the scope was collected again since, they are of the later run. */
const SLACK_MS = 5_000
const isOf =
  ({ plugin, beganAt, finishedAt }: Task) =>
  (receipt: Receipt) => {
    if (!beganAt || receipt.plugin !== plugin) return false
    const moment = Date.parse(receipt.updatedAt)
    return moment >= Date.parse(beganAt) - SLACK_MS && (!finishedAt || moment <= Date.parse(finishedAt) + SLACK_MS)
  }

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function Doing({ task }: { readonly task: Task }): ReactNode {
  const { status, progressDetail: detail } = task
  if (status !== 'TASK_RUNNING') return null
  const share = shareOf(task)
  return (
    <>
      <div
        className="progress"
        role="progressbar"
        aria-label="Progress of this task"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        style={{ margin: '14px 0 8px' }}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      {detail && (
        <p className="small quiet number">
          {detail.finishedSubTasks} of {counted(detail.totalSubTasks, 'step')} done
          {detail.estimatedEnd && (
            <span title={exactly(detail.estimatedEnd)}>, done about {clock.format(new Date(detail.estimatedEnd))}</span>
          )}
          {detail.waitingUntil && (
            <b className="attention" title={exactly(detail.waitingUntil)}>
              {' '}
              · waits until {clock.format(new Date(detail.waitingUntil))} for the quota of the source
            </b>
          )}
        </p>
      )}
    </>
  )
}

interface FactsProps {
  readonly task: Task
  readonly receipts: readonly Receipt[]
  readonly records: readonly { readonly isCollector: boolean; readonly finishedRecords: number }[] | undefined
}

function Facts({ task: { progressDetail: detail, interruptions }, receipts, records = [] }: FactsProps): ReactNode {
  const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0)
  const collected = sum(records.filter(({ isCollector }) => isCollector).map(({ finishedRecords }) => finishedRecords))
  const requests = detail ? detail.requests : sum(receipts.map((receipt) => receipt.requests))
  const unchanged = sum(receipts.map((receipt) => receipt.requests - receipt.countedRequests))
  const facts: readonly (readonly [name: string, value: number | null])[] = [
    ['Collected', collected > 0 ? collected : null],
    ['Requests', requests > 0 ? requests : null],
    ['Unchanged, not charged', unchanged > 0 ? unchanged : null],
    ['Requests left', detail?.requestsLeft ?? null],
    ['Interruptions', interruptions > 0 ? interruptions : null],
  ]
  const known = facts.filter(([, value]) => value !== null)
  if (known.length === 0) return null
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt className="small quiet">{name}</dt>
          <dd className="number">{count(value ?? 0)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Shows what went wrong, what to do, and a link that does it. */
function Trouble({ task, subject, mayRunAgain }: TaskDetailsProps): ReactNode {
  const may = useMay('operator')
  const again = useMutation({
    mutationFn: () => ask('POST /tasks/{id}/rerun', { path: { id: task.id } }),
    onSuccess: () =>
      refresh('GET /pipelines', 'GET /pipelines/{id}', 'GET /pipelines/{id}/tasks', 'GET /v1/pipelines/{id}/subjects'),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'Nothing was changed', message }),
  })
  const { status, message, failedSubTask } = task
  const isFailed = status === 'TASK_FAILED'
  if (!isFailed && message === '') return null
  const source = subject?.source
  return (
    <article className={`card trouble ${isFailed ? 'failed' : ''}`} role={isFailed ? 'alert' : 'status'}>
      <div style={{ minWidth: 0 }}>
        <h3>
          {isFailed
            ? `${subject?.title ?? task.plugin} could not be finished${failedSubTask && `: ${stepWords(failedSubTask).toLowerCase()} failed`}`
            : 'Done, with remarks'}
        </h3>
        <p className="quiet message">{withoutTitle(message, subject?.title) || 'It gave no reason; its log may.'}</p>
      </div>
      <div className="actions">
        {source && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link
                to="/sources/$plugin/$id"
                params={{ plugin: source.plugin, id: String(source.connectionId) }}
                {...props}
              />
            )}
          >
            Check connection
          </Button>
        )}
        {isFailed && may && mayRunAgain && (
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
            Run this task again
          </Button>
        )}
      </div>
    </article>
  )
}
