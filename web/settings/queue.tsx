import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { CardTable, right } from '../parts/table.tsx'
import { SettingsPage } from './settings-page.tsx'

type Queue = AnswerTo<'GET /v1/queue'>
const EVERY_MS = 3000

const SAYS: Record<Queue['runTasksOn'], string> = {
  server: 'Servers run tasks themselves. With RUN_TASKS_ON=workers, workers run them, also on other machines.',
  workers: 'Workers take tasks from the database. Servers run none.',
}

export function QueuePage() {
  const queue = useQuery({ ...question('GET /v1/queue'), refetchInterval: EVERY_MS })
  return (
    <SettingsPage title="Queue" says={queue.data ? SAYS[queue.data.runTasksOn] : 'Workers, and what waits for them.'}>
      <Asked of={queue}>{(data) => <Whole queue={data} />}</Asked>
    </SettingsPage>
  )
}

function Whole({ queue }: { readonly queue: Queue }) {
  const { runTasksOn, workers, waiting, servers } = queue
  const tasks = waiting.reduce((sum, each) => sum + each.tasks, 0)
  return (
    <>
      {runTasksOn === 'server' && workers.length > 0 && (
        <p role="alert" className="notice failing">
          These workers get no tasks, because servers run them. Set RUN_TASKS_ON=workers on all servers.
        </p>
      )}
      {runTasksOn === 'workers' && workers.length === 0 && (
        <p role="alert" className="notice failing">
          No worker is running, so no task can start. Start one: npx weir worker
        </p>
      )}
      {workers.length > 0 && <Workers workers={workers} />}
      {tasks > 0 ? (
        <Waiting waiting={waiting} />
      ) : (
        <Empty title="Nothing waits">
          {runTasksOn === 'server' ? 'No worker is needed.' : 'Every task has its worker.'}
        </Empty>
      )}
      <p className="quiet">
        Servers: {servers.map(({ host, version }) => `${host}${version && ` (${version})`}`).join(', ') || 'none'}
      </p>
    </>
  )
}

function Workers({ workers }: Pick<Queue, 'workers'>) {
  return (
    <CardTable
      aria-label="Workers"
      heads={['Worker', 'Version', right('Tasks'), 'At work on', { title: 'Started', className: 'hidden-on-phone' }]}
    >
      {workers.map(({ host, version, concurrency, isDraining, since, tasks }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several workers of one machine have nothing else of their own
        <tr key={`${host} ${index}`}>
          <td className="mono">
            {host}
            {isDraining && <span className="quiet"> stops</span>}
          </td>
          <td className="quiet">{version}</td>
          <td className="right">
            {tasks.length} of {concurrency}
          </td>
          <td>
            <Tasks tasks={tasks} />
          </td>
          <td className="quiet hidden-on-phone">{since && <Moment at={since} />}</td>
        </tr>
      ))}
    </CardTable>
  )
}

function Tasks({ tasks }: Pick<Queue['workers'][number], 'tasks'>) {
  if (tasks.length === 0) return <span className="quiet">nothing</span>
  return (
    <>
      {tasks.map(({ id, pipelineId, plugin, project }) => (
        <div key={id}>
          <Link to="/runs/$id" params={{ id: String(pipelineId) }}>
            {plugin}, run {pipelineId}
          </Link>
          {project && <span className="quiet"> of {project}</span>}
        </div>
      ))}
    </>
  )
}

function Waiting({ waiting }: Pick<Queue, 'waiting'>) {
  return (
    <CardTable aria-label="Waiting tasks" heads={['Project', right('Tasks that wait'), 'Remarks']}>
      {waiting.map(({ project, tasks, notes }) => (
        <tr key={project}>
          <td>{project || <span className="quiet">none</span>}</td>
          <td className="right">{tasks}</td>
          <td className="quiet">{notes.join(' ')}</td>
        </tr>
      ))}
    </CardTable>
  )
}
