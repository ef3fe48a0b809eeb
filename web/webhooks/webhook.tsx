import '../settings/settings.css'
import { Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { AskFirst } from '../parts/ask-first.tsx'
import { Copy } from '../parts/copy.tsx'
import { Asked, Page } from '../parts/parts.tsx'
import type { Webhook } from './asked.ts'
import { Commands } from './commands.tsx'
import { keepKey, useFreshKey } from './fresh-keys.ts'
import { WebhookInbox } from './inbox.tsx'
import { NameForm } from './name-form.tsx'

const place = getRouteApi('/sources/webhooks/$id')
const ONE = 'GET /plugins/webhook/connections/{connectionId}'
const changed = () => refresh('GET /plugins/webhook/connections', ONE)

export function WebhookPage() {
  const id = Number(place.useParams().id)
  const webhook = useQuery(question(ONE, { path: { connectionId: id } }))
  const isAdmin = useMay('admin')
  const secret = useFreshKey(id)
  return (
    <Page
      title={webhook.data?.name ?? 'Webhook'}
      says="Send to it with one of these commands; the inbox shows what arrived and whether it was accepted. The numbers of its projects change within a minute."
      actions={webhook.data && isAdmin && <Actions webhook={webhook.data} />}
    >
      <Asked of={webhook}>
        {(data) => (
          <div className="sections">
            <Key webhook={data} />
            <Commands webhook={data} secret={secret} />
            <WebhookInbox connectionId={id} />
          </div>
        )}
      </Asked>
    </Page>
  )
}

/** Shown while the browser still has the key: nothing else has it. */
function Key({ webhook: { id, name, apiKey, postIssuesEndpoint } }: { readonly webhook: Webhook }) {
  const key = useFreshKey(id)
  const make = useMutation({
    mutationFn: () => {
      const allowedPath = postIssuesEndpoint.replace(/^\/rest/, '').replace(/issues$/, '.*')
      return ask('POST /api-keys', {
        body: { name: `webhook ${name}`, type: 'devlake', allowedPath, role: 'operator' },
      })
    },
    onSuccess: (made) => {
      keepKey(id, made.apiKey)
      return changed()
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'No key was made', message }),
  })
  const isAdmin = useMay('admin')
  const [isAsking, setAsking] = useState(false)
  return (
    <section className="card" aria-labelledby="key">
      <div className="section-head" style={{ marginBottom: key ? 12 : 0 }}>
        <div>
          <h2 id="key">Key</h2>
          <p>
            {key ? (
              <>
                <b>Copy it now:</b> it is not shown again once you leave. It opens this webhook alone.
              </>
            ) : apiKey ? (
              'It was shown when it was made. If it is lost, renew it: the commands below then contain the new one.'
            ) : (
              'This webhook has no key of its own: create one, which then stands among the API keys of the settings.'
            )}
          </p>
        </div>
        <div className="buttons">
          {key && <Copy text={key} label="Copy key" />}
          {isAdmin && apiKey && (
            <Button variant="default" size="compact-sm" onClick={() => setAsking(true)}>
              Renew key
            </Button>
          )}
          {isAdmin && !apiKey && !key && (
            <Button variant="default" size="compact-sm" loading={make.isPending} onClick={() => make.mutate()}>
              Create key
            </Button>
          )}
        </div>
      </div>
      {key && (
        <code className="mono secret" data-testid="key">
          {key}
        </code>
      )}
      {isAsking && apiKey && (
        <AskFirst
          title="Renew the key?"
          action="Renew key"
          onClose={() => setAsking(false)}
          act={async () => {
            keepKey(id, (await ask('PUT /api-keys/{id}', { path: { id: apiKey.id } })).apiKey)
            await changed()
          }}
        >
          You get a new key for this webhook. The old one stops working at once, wherever it is in use.
        </AskFirst>
      )}
    </section>
  )
}

function Actions({ webhook: { id, name } }: { readonly webhook: Webhook }) {
  const navigate = place.useNavigate()
  const [asked, setAsked] = useState<'rename' | 'delete'>()
  const close = () => setAsked(undefined)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Change</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked('rename')}>Rename</Menu.Item>
          <Menu.Item onClick={() => setAsked('delete')} color="red">
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'rename' && (
        <NameForm
          title="Rename the webhook"
          says="Addresses and key stay the same."
          action="Rename"
          name={name}
          onClose={close}
          act={async (next) => {
            await ask('PATCH /plugins/webhook/connections/{connectionId}', {
              path: { connectionId: id },
              body: { name: next },
            })
            await changed()
            close()
          }}
        />
      )}
      {asked === 'delete' && (
        <AskFirst
          title={`Delete ${name}?`}
          action="Delete webhook"
          onClose={close}
          act={async () => {
            await ask('DELETE /plugins/webhook/connections/{connectionId}', { path: { connectionId: id } })
            await refresh('GET /plugins/webhook/connections')
            void navigate({ to: '/sources/webhooks' })
          }}
        >
          Its key and its inbox go, and whoever still sends is refused. Deployments, incidents and pull requests that
          were sent stay, and so do the numbers made of them.
        </AskFirst>
      )}
    </>
  )
}
