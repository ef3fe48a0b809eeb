import { Button, Menu, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { askedSources, type Source } from '../api/sources.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import { CardTable, right } from '../parts/table.tsx'
import { count } from '../parts/words.ts'
import type { ConnectionOverview } from './asked.ts'
import { ConnectionState, LastRun, RequestsLeft } from './connection-state.tsx'

const place = getRouteApi('/sources')
const EVERY_MS = 15_000
/** Fewer connections need no search field. */
const WORTH_SEARCHING = 6

export function SourceList() {
  const sources = useQuery(askedSources)
  const connections = useQuery({ ...question('GET /v1/connections'), refetchInterval: EVERY_MS })
  const may = useMay('admin')
  const { find = '' } = place.useSearch()
  const navigate = place.useNavigate()
  const isMany = (connections.data?.length ?? 0) >= WORTH_SEARCHING || find !== ''
  return (
    <Page
      title="Sources"
      says="Where data comes from: code hosts, issue trackers and build tools."
      actions={
        <>
          {isMany && (
            <TextInput
              placeholder="Find a connection"
              aria-label="Find a connection"
              value={find}
              onChange={({ currentTarget: { value } }) =>
                void navigate({ search: value ? { find: value } : {}, replace: true })
              }
            />
          )}
          {may && connections.data && connections.data.length > 0 && <Connect sources={sources.data ?? []} />}
        </>
      }
    >
      <Asked of={connections}>
        {(all) =>
          all.length === 0 ? (
            <Asked of={sources}>{(offered) => <Offer sources={offered} may={may} />}</Asked>
          ) : (
            <Connections all={all} words={find} />
          )
        }
      </Asked>
      <p className="quiet" style={{ marginTop: 24 }}>
        Tools that are not read from can send by themselves:{' '}
        <Link to="/sources/webhooks" style={{ textDecoration: 'underline' }}>
          Webhooks
        </Link>
      </p>
    </Page>
  )
}

function Connect({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button>Connect a source</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} {...({ to: '/sources/webhooks', search: { create: true } } as object)}>
          Webhook
        </Menu.Item>
        {sources.map(({ plugin, title }) => (
          <Menu.Item key={plugin} component={Link} {...({ to: '/sources/$plugin/new', params: { plugin } } as object)}>
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Shown while nothing is connected: the possible sources, each described in a sentence. */
function Offer({ sources, may }: { readonly sources: readonly Source[]; readonly may: boolean }) {
  return (
    <>
      <Empty title="Nothing is connected yet">
        {may
          ? 'Choose the tool that knows most about how you deliver; others can follow. Weir only ever reads from it.'
          : 'Whoever administers this Weir can connect the tools that your teams use.'}
      </Empty>
      <div className="offers">
        {sources.map(({ plugin, title, about }) => (
          <section key={plugin} className="card">
            <h2>{title}</h2>
            <p className="quiet">{about}</p>
            {may && (
              <Button component={Link} to="/sources/$plugin/new" params={{ plugin } as never} variant="default">
                Connect {title}
              </Button>
            )}
          </section>
        ))}
      </div>
    </>
  )
}

function Connections({ all, words }: { readonly all: readonly ConnectionOverview[]; readonly words: string }) {
  const wanted = words.trim().toLowerCase()
  const rows = all.filter(({ name, title, endpoint }) => `${name} ${title} ${endpoint}`.toLowerCase().includes(wanted))
  if (rows.length === 0)
    return <Empty title={`No connection is called “${words}”`}>Names, sources and addresses are searched.</Empty>
  return (
    <CardTable className="stacked" heads={['Connection', 'State', right('Scopes'), right('Requests left'), 'Last run']}>
      {rows.map((row) => (
        <tr key={`${row.plugin} ${row.id}`}>
          <td style={{ maxWidth: 360 }}>
            <Link
              to="/sources/$plugin/$id"
              params={{ plugin: row.plugin, id: String(row.id) }}
              className="cut"
              style={{ display: 'block', fontWeight: 500 }}
              title={row.name}
            >
              <bdi>{row.name}</bdi>
            </Link>
            <span className="small quiet cut" style={{ display: 'block' }} title={row.endpoint}>
              {row.title} · {row.endpoint}
            </span>
          </td>
          <td style={{ maxWidth: 320 }}>
            <ConnectionState of={row} />
            {row.failure !== null && (
              <span className="small bad two-lines" title={row.failure}>
                {row.failure}
              </span>
            )}
          </td>
          <td className="right" data-label="Scopes">
            {row.scopes === 0 ? <span className="faint">none</span> : count(row.scopes)}
          </td>
          <td className="right" data-label="Requests left">
            <RequestsLeft of={row} />
          </td>
          <td data-label="Last run">
            <LastRun of={row} />
          </td>
        </tr>
      ))}
    </CardTable>
  )
}
