import { useQueries, useQuery } from '@tanstack/react-query'
import { ask, type Operation } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Moment, Page } from '../parts/parts.tsx'

interface Connection {
  readonly id: number
  readonly name: string
  readonly endpoint?: string
  readonly updatedAt: string
}

export function SourceList() {
  const sources = useQuery(question('GET /v1/sources'))
  return (
    <Page title="Sources" says="Where data comes from: code hosts, issue trackers and build tools.">
      <Asked of={sources}>{(all) => <Connections plugins={all} />}</Asked>
    </Page>
  )
}

interface Source {
  readonly plugin: string
  readonly title: string
}

/** Every source has the same routes, below its own name. */
const connectionsOf = (plugin: string) => `GET /plugins/${plugin}/connections` as Operation

function Connections({ plugins }: { readonly plugins: readonly Source[] }) {
  const asked = useQueries({
    queries: plugins.map(({ plugin }) => ({
      queryKey: [connectionsOf(plugin), null],
      queryFn: () => ask(connectionsOf(plugin) as 'GET /plugins/github/connections') as Promise<readonly Connection[]>,
    })),
  })
  const rows = plugins.flatMap((source, index) =>
    (asked[index]?.data ?? []).map((connection) => ({ source, connection })),
  )
  if (asked.every(({ isPending }) => !isPending) && rows.length === 0)
    return (
      <Empty title="Nothing is connected yet">
        Weir reads from {plugins.map(({ title }) => title).join(', ')}. A connection has an address and a token;{' '}
        <code className="mono">docs/configuration.md</code> shows a file to start from.
      </Empty>
    )
  return (
    <div className="card scroll">
      <table className="plain">
        <thead>
          <tr>
            <th>Connection</th>
            <th>Source</th>
            <th>Address</th>
            <th>Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ source, connection }) => (
            <tr key={`${source.plugin} ${connection.id}`}>
              <td style={{ fontWeight: 500 }}>{connection.name}</td>
              <td>{source.title}</td>
              <td className="mono">{connection.endpoint}</td>
              <td>
                <Moment at={connection.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
