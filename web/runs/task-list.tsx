import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import type { Task, TaskSubject } from '../api/description.ts'
import { taken } from './steps.tsx'

/** The place of a task in the plan, which stays the same when the task is run again. */
export const placeOf = (stage: number, column: number) => `${stage}.${column}`

interface TaskListProps {
  readonly tasks: readonly Task[]
  readonly subjects: ReadonlyMap<string, TaskSubject>
  readonly chosen: Task
}

type Line = { readonly stage: number; readonly count: number } | { readonly task: Task }
const STAGE_HEIGHT = 36
const TASK_HEIGHT = 46

/** Stages one after another, each with its tasks; only visible lines are drawn. */
export function TaskList({ tasks, subjects, chosen }: TaskListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(
    () =>
      [...Map.groupBy(tasks, ({ pipelineRow }) => pipelineRow)].flatMap(([stage, own]): Line[] => [
        { stage, count: own.length },
        ...own.map((task) => ({ task })),
      ]),
    [tasks],
  )
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index] && 'task' in lines[index] ? TASK_HEIGHT : STAGE_HEIGHT),
    overscan: 12,
  })
  const position = lines.findIndex((line) => 'task' in line && line.task.id === chosen.id)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only once: later the reader scrolls.
  useEffect(() => virtual.scrollToIndex(position, { align: 'auto' }), [])
  return (
    <aside className="card tasks" aria-label="Stages and tasks" ref={scroller}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start, size }) => {
          const line = lines[index] as Line
          return (
            <div
              key={index}
              style={{
                position: 'absolute',
                insetInline: 0,
                top: 0,
                height: size,
                transform: `translateY(${start}px)`,
              }}
            >
              {'task' in line ? (
                <TaskLine
                  task={line.task}
                  subject={subjects.get(placeOf(line.task.pipelineRow, line.task.pipelineCol))}
                  isChosen={line.task.id === chosen.id}
                />
              ) : (
                <div className="stage">
                  Stage {line.stage}
                  {line.count > 1 && <span className="faint"> · {line.count} tasks side by side</span>}
                </div>
              )}
            </div>
          )
        })}
      </div>
    </aside>
  )
}

const DOTS: Readonly<Record<string, string>> = {
  TASK_COMPLETED: 'done',
  TASK_RUNNING: 'now',
  TASK_FAILED: 'bad',
  TASK_PARTIAL: 'attention',
}
const WORDS: Readonly<Record<string, string>> = {
  TASK_CREATED: 'waits',
  TASK_RERUN: 'waits',
  TASK_RESUME: 'waits',
  TASK_CANCELLED: 'cancelled',
}

/** The finished share of a running task: by its steps, and within the present step by its records. */
export function shareOf({ status, progressDetail: detail }: Task): number {
  if (status === 'TASK_COMPLETED') return 1
  if (!detail || detail.totalSubTasks === 0) return 0
  const within = detail.totalRecords > 0 ? Math.min(1, detail.finishedRecords / detail.totalRecords) : 0
  return Math.min(1, (detail.finishedSubTasks + within) / detail.totalSubTasks)
}

export const subjectText = (task: Task, subject: TaskSubject | undefined) =>
  subject
    ? subject.title.toLowerCase() === subject.plugin.toLowerCase()
      ? subject.pluginTitle
      : `${subject.pluginTitle} · ${subject.title}`
    : task.plugin

interface TaskLineProps {
  readonly task: Task
  readonly subject: TaskSubject | undefined
  readonly isChosen: boolean
}

function TaskLine({ task, subject, isChosen }: TaskLineProps) {
  const { status, spentSeconds, pipelineRow, pipelineCol, pipelineId } = task
  const name = subjectText(task, subject)
  const share = shareOf(task)
  const waits = task.progressDetail?.waitingUntil
  return (
    <Link
      to="/runs/$id"
      params={{ id: String(pipelineId) }}
      search={{ task: placeOf(pipelineRow, pipelineCol) }}
      replace
      className="task"
      aria-current={isChosen}
      title={name}
    >
      <span className={`dot ${DOTS[status] ?? ''}`} aria-hidden />
      <span className="cut">{name}</span>
      {status === 'TASK_FAILED' ? (
        <span className="tag bad">failed</span>
      ) : status === 'TASK_RUNNING' ? (
        <span className="small number">{waits ? 'waits for quota' : `${Math.floor(share * 100)} %`}</span>
      ) : status === 'TASK_COMPLETED' ? (
        <span className="small quiet number">{taken(spentSeconds)}</span>
      ) : (
        <span className="small faint">{WORDS[status] ?? ''}</span>
      )}
      {status === 'TASK_RUNNING' && (
        <span className="progress">
          <i style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </Link>
  )
}

/** Removes the title from a message if the heading already shows it. */
export const withoutTitle = (message: string, title = ''): string =>
  message.startsWith(`${title}: `) ? message.slice(title.length + 2) : message
