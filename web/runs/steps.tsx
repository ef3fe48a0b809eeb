import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Receipt, Task, TaskStep } from '../api/description.ts'
import { right, Table } from '../parts/table.tsx'
import { count, duration } from '../parts/words.ts'

interface StepsProps {
  readonly steps: readonly TaskStep[]
  readonly task: Task
  readonly receipts: readonly Receipt[]
}

/** Times are known in whole seconds only. */
export const taken = (seconds: number) => (seconds === 0 ? '< 1 s' : duration(seconds / 60))

/** Up to this many steps are all shown. */
const FEW = 8

/** `collectApiIssues` → `Collect api issues`. */
export function stepWords(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_\s]+/g, ' ')
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
}

export function Steps({ steps, task, receipts }: StepsProps) {
  const [isWhole, setWhole] = useState(false)
  const now = task.status === 'TASK_RUNNING' ? task.progressDetail?.subTaskName : undefined
  const byStep = new Map(receipts.map((receipt) => [receipt.subtask, receipt]))
  // Steps that ask the source show how the task is doing; the other steps follow from them.
  const telling = steps.filter(
    ({ name, isCollector, isFailed, message }) => isCollector || isFailed || message !== '' || name === now,
  )
  const isShort = steps.length <= FEW || telling.length === 0
  const listed = isShort || isWhole ? steps : telling
  return (
    <>
      <div className="scroll">
        <Table
          className="steps"
          heads={['Step', 'Progress', right('Records'), right('Stored of existing'), right('Time')]}
        >
          {listed.map((step) => (
            <Step key={step.id} step={step} now={now} task={task} receipt={byStep.get(step.name)} />
          ))}
        </Table>
      </div>
      {!isShort && (
        <Button variant="subtle" size="compact-sm" onClick={() => setWhole(!isWhole)} style={{ marginTop: 8 }}>
          {isWhole ? 'Show the steps that collect' : `Show all ${steps.length} steps`}
        </Button>
      )}
    </>
  )
}

interface StepProps {
  readonly step: TaskStep
  readonly task: Task
  readonly now: string | undefined
  readonly receipt: Receipt | undefined
}

function Step({ step, task, now, receipt }: StepProps) {
  const { name, beganAt, finishedAt, isFailed, finishedRecords, spentSeconds, message } = step
  const isNow = name === now && !finishedAt
  const waits = !beganAt
  return (
    <tr className={waits ? 'faint' : ''}>
      <td style={{ fontWeight: isNow ? 500 : 400 }} title={name}>
        {stepWords(name)}
        {message && !isFailed && <div className="small message quiet">{message}</div>}
      </td>
      <td style={{ width: 200 }}>
        {isNow ? (
          <Bar task={task} name={stepWords(name)} />
        ) : isFailed ? (
          <span className="tag bad">failed</span>
        ) : finishedAt ? (
          <span className="quiet">done</span>
        ) : waits ? (
          task.status === 'TASK_RUNNING' || task.status === 'TASK_CREATED' ? (
            'waits'
          ) : (
            'did not run'
          )
        ) : (
          <span className="quiet">stopped</span>
        )}
      </td>
      <td className="right">
        {waits ? '–' : count(isNow ? (task.progressDetail?.finishedRecords ?? 0) : finishedRecords)}
      </td>
      <td className="right">{receipt ? <Stored receipt={receipt} /> : <span className="faint">–</span>}</td>
      <td className="right">{finishedAt ? taken(spentSeconds) : <span className="faint">–</span>}</td>
    </tr>
  )
}

function Bar({ task: { progressDetail: detail }, name }: { readonly task: Task; readonly name: string }) {
  const total = detail?.totalRecords ?? 0
  if (!detail || total <= 0) return <span className="tag accent">running</span>
  const share = Math.min(1, detail.finishedRecords / total)
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={`Progress of ${name}`}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      style={{ marginTop: 8 }}
    >
      <i style={{ width: `${share * 100}%` }} />
    </div>
  )
}

/** Stored records, out of those that the source says it has. If it does not say, only the stored ones can be shown. */
export function Stored({ receipt: { stored, expected, status } }: { readonly receipt: Receipt }) {
  if (expected === null && stored === 0 && status === 'complete') return <span className="faint">none</span>
  const words = expected === null ? `${count(stored)} stored` : `${count(stored)} of ${count(expected)}`
  return status === 'complete' ? words : <span className="tag attention">{words}</span>
}
