import { Button, Drawer, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Refused } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import type { Source } from '../api/sources.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Moment, Page } from '../parts/parts.tsx'
import { plural } from '../parts/words.ts'
import { AddScopes } from './add-scopes.tsx'
import { type Connection, type ConnectionOverview, connectionQuestion, testStored, useSource } from './asked.ts'
import { ConnectionForm } from './connection-form.tsx'
import { ConnectionState, LastRun, RequestsLeft } from './connection-state.tsx'
import { DeleteConnection } from './delete-connection.tsx'
import { Deliveries } from './deliveries.tsx'
import { ScopesCard } from './scopes-card.tsx'

const place = getRouteApi('/sources/$plugin/$id')
const EVERY_MS = 15_000

export function ConnectionPage() {
  const { plugin, id } = place.useParams()
  const { edit, add, find } = place.useSearch()
  const navigate = place.useNavigate()
  const connectionId = Number(id)
  const may = useMay('admin')
  const { sources, source } = useSource(plugin)
  const connection = useQuery({ ...connectionQuestion(plugin, connectionId), enabled: source !== undefined })
  const overview = useQuery({ ...question('GET /v1/connections'), refetchInterval: EVERY_MS })
  const row = overview.data?.find((each) => each.plugin === plugin && each.id === connectionId)
  const close = () => void navigate({ search: find ? { find } : {} })

  const isGone = connection.error instanceof Refused && connection.error.status === 404
  if (isGone || (sources.data && !source)) return <Gone hadDrawer={Boolean(edit || add)} />
  const stored = connection.data
  return (
    <Page
      title={stored?.name ?? ' '}
      says={source && stored ? `${source.title} at ${stored.endpoint ?? source.endpoint}` : ' '}
      actions={
        may &&
        source &&
        stored && (
          <Actions
            source={source}
            connection={stored}
            onEdit={() => void navigate({ search: { ...(find && { find }), edit: true } })}
            onAdd={() => void navigate({ search: { ...(find && { find }), add: true } })}
          />
        )
      }
    >
      <Asked of={connection}>
        {() =>
          source && stored ? (
            <>
              {stored.problem && (
                <div className="notice" role="alert">
                  <span>{stored.problem.message}</span>
                </div>
              )}
              {row && <Facts row={row} />}
              <ScopesCard
                source={source}
                connectionId={connectionId}
                words={find ?? ''}
                onWords={(words) => void navigate({ search: words ? { find: words } : {}, replace: true })}
                onAdd={() => void navigate({ search: { add: true } })}
              />
              {source.hasDeliveries && <Deliveries plugin={plugin} connectionId={connectionId} title={source.title} />}
              <Drawer
                opened={edit === true && may}
                onClose={close}
                position="right"
                size={760}
                title={`Settings of ${stored.name}`}
              >
                <ConnectionForm
                  plugin={plugin}
                  connection={stored}
                  onSaved={() => {
                    close()
                    notifications.show({ message: 'The connection is saved.' })
                  }}
                />
              </Drawer>
              <Drawer
                opened={add === true && may}
                onClose={close}
                position="right"
                size={960}
                title={`What to collect from ${stored.name}`}
              >
                <AddScopes source={source} connectionId={connectionId} onDone={close} />
              </Drawer>
            </>
          ) : null
        }
      </Asked>
    </Page>
  )
}

interface ActionsProps {
  readonly source: Source
  readonly connection: Connection
  onEdit(): void
  onAdd(): void
}

function Actions({ source, connection, onEdit, onAdd }: ActionsProps) {
  const [isDeleting, setDeleting] = useState(false)
  const test = useMutation({
    mutationFn: () => testStored(source.plugin, connection.id),
    onSuccess: ({ success, message, login }) =>
      notifications.show(
        success
          ? { message: `It works${login ? ` as ${login}` : ''}.` }
          : { color: 'red', title: 'It does not work', message },
      ),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It does not work', message }),
    onSettled: () => refresh('GET /v1/connections'),
  })
  return (
    <>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test
      </Button>
      <Button variant="default" onClick={onEdit}>
        Edit
      </Button>
      <Button onClick={onAdd}>Add {plural(source.scope.title.toLowerCase())}</Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label="More" px={10}>
            ⋯
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item color="red" onClick={() => setDeleting(true)}>
            Delete connection
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isDeleting && <DeleteConnection source={source} connection={connection} onClose={() => setDeleting(false)} />}
    </>
  )
}

function Facts({ row }: { readonly row: ConnectionOverview }) {
  return (
    <>
      {row.failure !== null && (
        <div className="notice failing" role="alert">
          <span style={{ overflowWrap: 'anywhere' }}>
            {row.failedRun === null ? (
              <>
                <b>It does not work</b> since <Moment at={row.checkedAt} />
              </>
            ) : (
              <>
                <b>The last collection through it failed</b>, <Moment at={row.checkedAt} />
              </>
            )}
            : {row.failure}
          </span>
        </div>
      )}
      <dl className="facts">
        <div>
          <dt>State</dt>
          <dd>
            <ConnectionState of={row} />
          </dd>
        </div>
        <div>
          <dt>Requests left</dt>
          <dd>
            <RequestsLeft of={row} />
          </dd>
        </div>
        <div>
          <dt>Last run</dt>
          <dd>
            <LastRun of={row} />
          </dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Moment at={row.updatedAt} />
          </dd>
        </div>
      </dl>
    </>
  )
}

function Gone({ hadDrawer }: { readonly hadDrawer: boolean }) {
  return (
    <Page title="No such connection" says="It may have been deleted by somebody else.">
      <Empty title="This connection no longer exists" action={<Link to="/sources">Show all sources</Link>}>
        {hadDrawer ? 'What you had entered was not saved. ' : ''}What was collected by it before may still be in the
        data of projects.
      </Empty>
    </Page>
  )
}
