/** Failed tasks of the last runs. A task such as that for a git history leaves no list that could show what is missing. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Task, TaskSubject } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { counted } from '../parts/words.ts'
import type { HealthFilter } from './address.ts'
import { withoutTitle } from './task-list.tsx'

interface FailedTask {
  readonly runId: number
  readonly task: Task
  readonly subject: TaskSubject | undefined
}

const MOST_RUNS = 10
const MOST_SHOWN = 20

/** Undefined until all answers have arrived. */
export function useFailedTasks({ project, plugin, connectionId, scopeId }: HealthFilter): FailedTask[] | undefined {
  const attention = useQuery(question('GET /v1/attention'))
  const runs = (attention.data?.runs ?? [])
    .filter((run) => project === undefined || run.project === project)
    .slice(0, MOST_RUNS)
  const tasks = useQueries({ queries: runs.map(({ id }) => question('GET /pipelines/{id}/tasks', { path: { id } })) })
  const subjects = useQueries({
    queries: runs.map(({ id }) => question('GET /v1/pipelines/{id}/subjects', { path: { id } })),
  })
  if (!attention.data || [...tasks, ...subjects].some(({ isPending }) => isPending)) return undefined
  const isMeant = ({ subject }: FailedTask) => {
    const source = subject?.source
    if (plugin === undefined) return true
    if (source?.plugin !== plugin) return false
    const isOfConnection = connectionId === undefined || source.connectionId === connectionId
    return isOfConnection && (scopeId === undefined || source.scopeId === scopeId)
  }
  return runs
    .flatMap(({ id: runId }, index) =>
      (tasks[index]?.data?.tasks ?? [])
        .filter(({ status }) => status === 'TASK_FAILED')
        .map((task) => ({
          runId,
          task,
          subject: subjects[index]?.data?.subjects.find(({ taskId }) => taskId === task.id),
        })),
    )
    .filter(isMeant)
}

/** Empty if no task failed. */
export function FailedTasks({ filter }: { readonly filter: HealthFilter }) {
  const failed = useFailedTasks(filter) ?? []
  if (failed.length === 0) return null
  const runs = new Set(failed.map(({ runId }) => runId)).size
  return (
    <section className="card" aria-label="Tasks that failed" style={{ marginBottom: 16 }}>
      <h2 style={{ marginBottom: 4 }}>
        {counted(failed.length, 'task')} failed in the last {runs === 1 ? 'run' : 'runs'}
      </h2>
      <p className="small quiet" style={{ marginBottom: 8 }}>
        {failed.length === 1
          ? 'What it would have brought is missing from the numbers until it succeeds.'
          : 'What they would have brought is missing from the numbers until they succeed.'}
      </p>
      {failed.slice(0, MOST_SHOWN).map(({ runId, task, subject }) => (
        <div key={task.id} className="row health">
          <div style={{ minWidth: 0 }}>
            <h3 className="cut" title={subject?.title}>
              {subject?.title ?? task.plugin} <span className="faint">· {subject?.pluginTitle ?? task.plugin}</span>
            </h3>
            <p className="quiet small message">
              {withoutTitle(task.message, subject?.title) || 'It gave no reason; its log may.'}
            </p>
          </div>
          <Link
            to="/runs/$id"
            params={{ id: String(runId) }}
            search={{ task: `${task.pipelineRow}.${task.pipelineCol}` }}
            style={{ whiteSpace: 'nowrap' }}
          >
            Show the task
          </Link>
        </div>
      ))}
      {failed.length > MOST_SHOWN && <p className="small faint">and {failed.length - MOST_SHOWN} more</p>}
    </section>
  )
}
