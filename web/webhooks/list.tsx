import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Moment, Page } from '../parts/parts.tsx'
import { CardTable } from '../parts/table.tsx'
import { keepKey } from './fresh-keys.ts'
import { NameForm } from './name-form.tsx'

const place = getRouteApi('/sources/webhooks')

export function WebhookList() {
  const isAdmin = useMay('admin')
  const { create = false } = place.useSearch()
  const navigate = place.useNavigate()
  const connections = useQuery(question('GET /plugins/webhook/connections'))
  const open = () => void navigate({ search: { create: true } })
  async function make(name: string) {
    const { id, apiKey } = await ask('POST /plugins/webhook/connections', { body: { name } })
    keepKey(id, apiKey?.apiKey)
    await refresh('GET /plugins/webhook/connections')
    void navigate({ to: '/sources/webhooks/$id', params: { id: String(id) }, replace: true })
  }
  return (
    <Page
      title="Webhooks"
      says="For tools that Weir does not read from: they send deployments, incidents and pull requests themselves."
      actions={isAdmin && <Button onClick={open}>Create webhook</Button>}
    >
      <Asked of={connections}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              title="No webhooks yet"
              action={
                isAdmin && (
                  <Button variant="default" onClick={open}>
                    Create the first webhook
                  </Button>
                )
              }
            >
              One line of <code className="mono">curl</code> in a deploy script is enough for deployment frequency. You
              get the line, with a key that works, as soon as the webhook is there.
            </Empty>
          ) : (
            <CardTable heads={['Webhook', 'Key', 'Created']}>
              {all.map(({ id, name, apiKey, createdAt }) => (
                <tr key={id}>
                  <td style={{ maxWidth: 420 }}>
                    <Link
                      to="/sources/webhooks/$id"
                      params={{ id: String(id) }}
                      className="cut"
                      style={{ display: 'block', fontWeight: 500 }}
                      title={name}
                    >
                      {name}
                    </Link>
                  </td>
                  <td>
                    {apiKey ? (
                      <span className="quiet">{apiKey.name}</span>
                    ) : (
                      <span className="tag attention">none</span>
                    )}
                  </td>
                  <td>
                    <Moment at={createdAt} />
                  </td>
                </tr>
              ))}
            </CardTable>
          )
        }
      </Asked>
      {create && (
        <NameForm
          title="Create a webhook"
          says="Name it after who sends: a build server, a script, a team."
          action="Create webhook"
          act={make}
          onClose={() => void navigate({ search: {}, replace: true })}
        />
      )}
    </Page>
  )
}
