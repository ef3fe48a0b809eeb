import { ACTIONS, Table } from '../../parts/table.tsx'
import './rules.css'
import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/queries.ts'
import type { Source } from '../../api/sources.ts'
import { useMay } from '../../frame/sign-in.tsx'
import { Asked, Empty, Moment, Page } from '../../parts/parts.tsx'
import { connectionQuestion, useScopes, useSource } from '../asked.ts'
import { configsQuestion, fieldsOf, type RuleConfig, scopesWord } from './asked.ts'
import { NoSource } from './page.tsx'

const place = getRouteApi('/sources/$plugin/$id/rules')

export function RuleListPage() {
  const { plugin, id } = place.useParams()
  const { sources, source } = useSource(plugin)
  const connection = useQuery(connectionQuestion(plugin, Number(id)))
  const may = useMay('admin')
  if (sources.data && !source) return <NoSource plugin={plugin} />
  return (
    <Page
      title="Rules"
      says={
        <>
          What counts as what in {connection.data ? <b>{connection.data.name}</b> : 'this connection'}: each scope goes
          by one set of rules.
        </>
      }
      actions={
        may && (
          <Button
            component={Link}
            to="/sources/$plugin/$id/rules/$config"
            params={{ plugin, id, config: 'new' } as never}
          >
            New rules
          </Button>
        )
      }
    >
      <Asked of={connection}>{() => (source ? <RuleList source={source} connectionId={Number(id)} /> : null)}</Asked>
    </Page>
  )
}

interface RuleListProps {
  readonly source: Source
  readonly connectionId: number
}

/** All scope configs of a connection and what uses them; also a part of the connection's own page. */
function RuleList({ source, connectionId }: RuleListProps) {
  const { plugin } = source
  const configs = useQuery(configsQuestion(plugin, connectionId))
  const scopes = useScopes(plugin, connectionId)
  return (
    <Asked of={configs}>
      {(all) => (
        <Asked of={scopes}>
          {(shown) => {
            const bare = shown.filter(({ scopeConfigId }) => scopeConfigId === null)
            return (
              <>
                {all.length > 0 && (
                  <div className="card scroll" style={{ marginBottom: 16 }}>
                    <Table heads={['Rules', 'Apply to', 'Changed', ACTIONS]}>
                      {all.map((config) => (
                        <Row
                          key={config.id}
                          source={source}
                          connectionId={connectionId}
                          config={config}
                          users={shown
                            .filter(({ scopeConfigId }) => scopeConfigId === config.id)
                            .map(({ name }) => name)}
                        />
                      ))}
                    </Table>
                  </div>
                )}
                <Assumed source={source} bare={bare.map(({ name }) => name)} hasRules={all.length > 0} />
              </>
            )
          }}
        </Asked>
      )}
    </Asked>
  )
}

const some = (names: readonly string[]) =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '')

interface RowProps {
  readonly source: Source
  readonly connectionId: number
  readonly config: RuleConfig
  readonly users: readonly string[]
}

function Row({ source, connectionId, config, users }: RowProps) {
  const { plugin } = source
  const may = useMay('admin')
  const path = { plugin, connectionId }
  const reread = () => refresh('GET /plugins/{plugin}/connections/{connectionId}/scope-configs')
  const failed = ({ message }: Error) => notifications.show({ color: 'red', title: 'Not deleted', message })
  const bringBack = useMutation({
    mutationFn: () =>
      ask('POST /plugins/{plugin}/connections/{connectionId}/scope-configs', {
        path,
        body: config,
      }),
    onSuccess: reread,
    onError: ({ message }) => notifications.show({ color: 'red', title: 'Not brought back', message }),
  })
  const remove = useMutation({
    mutationFn: () =>
      ask('DELETE /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}', {
        path: { ...path, scopeConfigId: config.id },
      }),
    onSuccess: async () => {
      await reread()
      const shown = notifications.show({
        autoClose: 15_000,
        message: (
          <span className="row">
            <span>{config.name} is deleted; nothing used it.</span>
            <Button
              variant="default"
              size="xs"
              onClick={() => {
                notifications.hide(shown)
                bringBack.mutate()
              }}
            >
              Undo
            </Button>
          </span>
        ),
      })
    },
    onError: failed,
  })
  return (
    <tr>
      <td style={{ maxWidth: 320 }}>
        <Link
          to="/sources/$plugin/$id/rules/$config"
          params={{ plugin, id: String(connectionId), config: String(config.id) }}
          className="cut"
          style={{ display: 'block', fontWeight: 500 }}
          title={config.name}
        >
          {config.name}
        </Link>
      </td>
      <td style={{ maxWidth: 420 }}>
        {users.length === 0 ? (
          <span className="faint">nothing yet</span>
        ) : (
          <span title={users.slice(0, 50).join('\n')}>
            {scopesWord(source, users.length)} <span className="small quiet">{some(users)}</span>
          </span>
        )}
      </td>
      <td>
        <Moment at={config.updatedAt} />
      </td>
      <td className="right">
        {may && users.length === 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            onClick={() => remove.mutate()}
            loading={remove.isPending}
            aria-label={`Delete ${config.name}`}
          >
            Delete
          </Button>
        )}
      </td>
    </tr>
  )
}

interface AssumedProps {
  readonly source: Source
  readonly bare: readonly string[]
  readonly hasRules: boolean
}

/** Scopes without written rules use default rules, which this shows. */
function Assumed({ source, bare, hasRules }: AssumedProps) {
  const assumed = fieldsOf(source).filter(
    ([, { suggestion, isOnRequest }]) => suggestion !== undefined && suggestion !== '' && !isOnRequest,
  )
  if (bare.length === 0)
    return hasRules ? null : (
      <Empty title="No rules yet">
        Rules say which workflows deploy, which environments are production and which issues are incidents. Without any,
        what is usual is assumed.
      </Empty>
    )
  return (
    <section className="card">
      <h2>Default rules</h2>
      <p className="small quiet" style={{ margin: '4px 0 12px' }}>
        {scopesWord(source, bare.length)} without rules of their own ({some(bare)}): this is assumed.
      </p>
      <dl className="pairs small">
        {assumed.map(([name, { label, suggestion }]) => (
          <div key={name}>
            <dt>{label}</dt>
            <dd className="mono">{typeof suggestion === 'string' ? suggestion : summary(suggestion)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const summary = (value: unknown) =>
  Object.entries((value ?? {}) as Record<string, { standardType?: string }>)
    .map(([name, { standardType }]) => `${name}: ${standardType?.toLowerCase() ?? ''}`)
    .join(', ')
