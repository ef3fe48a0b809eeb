import { Button, CopyButton, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { LinkTo } from '../parts/anywhere.tsx'
import { Asked } from '../parts/parts.tsx'

type Webhook = AnswerTo<'GET /plugins/webhook/connections'>[number]

/** The feeds of this project: deployments and incidents that tools report by themselves. */
export function Webhooks({ project }: { readonly project: Project }) {
  const all = useQuery(question('GET /plugins/webhook/connections'))
  const isAdmin = useMay('admin')
  const { blueprint } = project
  const own = new Set(
    blueprint?.connections.filter(({ pluginName }) => pluginName === 'webhook').map((each) => each.connectionId),
  )
  const [made, setMade] = useState<Webhook>()
  return (
    <div className="stack">
      <p className="quiet" style={{ maxWidth: 720 }}>
        Tools that Weir does not ask can report deployments, incidents and pull requests themselves, as they happen.{' '}
        <LinkTo at={{ path: '/webhooks' }}>All webhooks and their deliveries</LinkTo>
      </p>
      <Asked of={all}>
        {(webhooks) => {
          const shown = webhooks.filter(({ id }) => own.has(id))
          if (shown.length === 0)
            return (
              <section className="card">
                <h2 style={{ marginBottom: 4 }}>No webhook reports to this project</h2>
                <p className="quiet">Create one, and put the command that appears here into the job that deploys.</p>
              </section>
            )
          return shown.map((webhook) => (
            <Card
              key={webhook.id}
              webhook={webhook}
              apiKey={made?.id === webhook.id ? made.apiKey?.apiKey : undefined}
            />
          ))
        }}
      </Asked>
      {isAdmin && blueprint?.mode === 'NORMAL' && <Create project={project} onMade={setMade} />}
    </div>
  )
}

/** To be run where the deployed commit is checked out. */
const commandOf = (path: string, key: string) => `NOW=$(date -u +%FT%TZ)
curl ${location.origin}${path} \\
  -H 'Authorization: Bearer ${key}' \\
  --json '{
    "id": "'$(git rev-parse HEAD)'",
    "startedDate": "'$NOW'",
    "finishedDate": "'$NOW'",
    "deploymentCommits": [{
      "repoUrl": "'$(git remote get-url origin)'",
      "commitSha": "'$(git rev-parse HEAD)'",
      "startedDate": "'$NOW'",
      "finishedDate": "'$NOW'"
    }]
  }'`

function Card({ webhook, apiKey }: { readonly webhook: Webhook; readonly apiKey: string | undefined }) {
  const command = commandOf(String(webhook.postPipelineDeployTaskEndpoint), apiKey ?? 'YOUR_KEY')
  return (
    <section className="card" aria-label={webhook.name}>
      <div className="row" style={{ marginBottom: 8 }}>
        <h2 className="cut" title={webhook.name}>
          {webhook.name}
        </h2>
        <CopyButton value={command}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy command'}
            </Button>
          )}
        </CopyButton>
      </div>
      {apiKey ? (
        <p className="notice">
          <span>
            <b>The key in this command is shown once.</b> Copy it now; it can be replaced later, not shown again.
          </span>
        </p>
      ) : (
        <p className="small quiet" style={{ marginBottom: 8 }}>
          Reports a deployment. Its key was shown when it was created; a new one can be made among the webhooks.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <section className="code" aria-label={`Command of ${webhook.name}`} tabIndex={0}>
        <pre>{command}</pre>
      </section>
    </section>
  )
}

interface CreateProps {
  readonly project: Project
  readonly onMade: (webhook: Webhook) => void
}

function Create({ project: { name, blueprint }, onMade }: CreateProps) {
  const [title, setTitle] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const webhook = await ask('POST /plugins/webhook/connections', { body: { name: title.trim() } })
      if (blueprint) {
        const connections = [...blueprint.connections, { pluginName: 'webhook', connectionId: webhook.id, scopes: [] }]
        await ask('PATCH /blueprints/{id}', { path: { id: blueprint.id }, body: { connections } })
      }
      return webhook
    },
    onSuccess: async (webhook) => {
      onMade(webhook as Webhook)
      setTitle('')
      await refresh('GET /plugins/webhook/connections', 'GET /projects/{projectName}', 'GET /blueprints/{id}')
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'The webhook was not created', message }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate()
  }
  return (
    <form onSubmit={submit} className="actions" style={{ alignItems: 'flex-end' }}>
      <TextInput
        label="New webhook"
        placeholder={`${name} deployments`}
        value={title}
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        maxLength={100}
        required
        w={320}
      />
      <Button type="submit" loading={create.isPending} disabled={title.trim() === ''}>
        Create webhook
      </Button>
    </form>
  )
}
