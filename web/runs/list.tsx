import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { Asked, Empty, Moment, Page, State } from '../parts/parts.tsx'
import { duration } from '../parts/words.ts'

const SHOWN = 50
const EVERY_MS = 4_000

export function RunList() {
  const runs = useQuery({ ...question('GET /pipelines', { query: { pageSize: SHOWN } }), refetchInterval: EVERY_MS })
  return (
    <Page title="Runs" says="What was collected and calculated, when, and what went wrong.">
      <Asked of={runs}>
        {({ count, pipelines }) =>
          count === 0 ? (
            <Empty title="Nothing has run yet">
              A run begins by the schedule of a project, or when somebody chooses “Collect now” on its page.
            </Empty>
          ) : (
            <div className="card scroll">
              <table className="plain">
                <thead>
                  <tr>
                    <th>Run</th>
                    <th>State</th>
                    <th className="right">Tasks</th>
                    <th className="right">Took</th>
                    <th>Began</th>
                    <th>Message</th>
                  </tr>
                </thead>
                <tbody>
                  {pipelines.map((run) => (
                    <tr key={run.id}>
                      <td>
                        <Link to="/runs/$id" params={{ id: String(run.id) }} style={{ fontWeight: 500 }}>
                          {run.name}
                        </Link>{' '}
                        <span className="faint number">{run.id}</span>
                      </td>
                      <td>
                        <State of={run.status} />
                      </td>
                      <td className="right">
                        {run.finishedTasks} of {run.totalTasks}
                      </td>
                      <td className="right">{run.spentSeconds > 0 ? duration(run.spentSeconds / 60) : ''}</td>
                      <td>
                        <Moment at={run.beganAt} />
                      </td>
                      <td className="quiet small cut" style={{ maxWidth: 320 }} title={run.message}>
                        {run.message.split('\n')[0]}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Asked>
    </Page>
  )
}
