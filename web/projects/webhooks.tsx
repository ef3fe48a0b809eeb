import { Button, Select, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked } from '../parts/parts.tsx'
import type { Webhook } from '../webhooks/asked.ts'
import { Commands } from '../webhooks/commands.tsx'
import { keepKey, useFreshKey } from '../webhooks/fresh-keys.ts'

/** The webhooks of this project: deployments and incidents that tools report by themselves. */
export function Webhooks({ project }: { readonly project: Project }) {
  const all = useQuery(question('GET /plugins/webhook/connections'))
  const isAdmin = useMay('admin')
  const [chosen, setChosen] = useState<number>()
  const { blueprint } = project
  const own = new Set(
    blueprint?.connections.filter(({ pluginName }) => pluginName === 'webhook').map((each) => each.connectionId),
  )
  return (
    <div className="stack">
      <p className="quiet" style={{ maxWidth: 720 }}>
        Tools that Weir does not ask can report deployments, incidents and pull requests themselves, as they happen. The
        numbers of this project change within a minute, without a run that collects.
      </p>
      <Asked of={all}>
        {(webhooks) => {
          const shown = webhooks.filter(({ id }) => own.has(id))
          const open = shown.find(({ id }) => id === chosen) ?? shown[0]
          return open ? (
            <>
              <List webhooks={shown} open={open.id} onOpen={setChosen} />
              <Older webhooks={shown.filter(({ createdAt }) => createdAt < project.createdAt)} />
              <Sending webhook={open} />
            </>
          ) : (
            <section className="card">
              <h2 style={{ marginBottom: 4 }}>No webhook reports to this project</h2>
              <p className="quiet">
                Create one, and put the command that appears here into the job that deploys. Or attach one that exists:
                it may report to several projects.
              </p>
            </section>
          )
        }}
      </Asked>
      {isAdmin && blueprint?.mode === 'NORMAL' && (
        <>
          <Create project={project} onMade={setChosen} />
          <Attach
            project={project}
            webhooks={(all.data ?? []).filter(({ id }) => !own.has(id))}
            onAttached={setChosen}
          />
        </>
      )}
    </div>
  )
}

interface ListProps {
  readonly webhooks: readonly Webhook[]
  readonly open: number
  readonly onOpen: (id: number) => void
}

const List = ({ webhooks, open, onOpen }: ListProps) => (
  <section className="card" style={{ padding: '8px 10px' }}>
    {webhooks.map(({ id, name }) => (
      <div key={id} className="row" style={{ alignItems: 'center' }}>
        <button type="button" className="choice" aria-pressed={id === open} onClick={() => onOpen(id)}>
          <bdi className="cut">{name}</bdi>
        </button>
        <Link to="/sources/webhooks/$id" params={{ id: String(id) }} className="small" style={{ whiteSpace: 'nowrap' }}>
          Key and deliveries
        </Link>
      </div>
    ))}
  </section>
)

/** A connection can be older than the project. A new project of the same name, or one that it is attached to, takes over earlier data. */
const Older = ({ webhooks }: { readonly webhooks: readonly Webhook[] }) =>
  webhooks.length > 0 && (
    <p className="small quiet" role="note">
      Older than this project: {webhooks.map(({ name }) => name).join(', ')}. What was sent to it before the project
      existed counts here as well. If that is not meant, remove it from the blueprint and create another webhook.
    </p>
  )

function Sending({ webhook }: { readonly webhook: Webhook }) {
  const secret = useFreshKey(webhook.id)
  return (
    <>
      {secret && (
        <div className="notice">
          <span>
            <b>The key in this command is shown once.</b> Copy it now; it can be replaced later, not shown again.
          </span>
        </div>
      )}
      <Commands key={webhook.id} webhook={webhook} secret={secret} />
    </>
  )
}

/** From now on, what is sent to this connection counts in the project. Earlier messages count too. */
async function addToProject({ blueprint }: Project, connectionId: number): Promise<void> {
  if (!blueprint) return
  const connections = [...blueprint.connections, { pluginName: 'webhook', connectionId, scopes: [] }]
  await ask('PATCH /blueprints/{id}', { path: { id: blueprint.id }, body: { connections } })
}
const added = () => refresh('GET /plugins/webhook/connections', 'GET /projects/{projectName}', 'GET /blueprints/{id}')

interface CreateProps {
  readonly project: Project
  readonly onMade: (id: number) => void
}

function Create({ project, onMade }: CreateProps) {
  const [title, setTitle] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const webhook = await ask('POST /plugins/webhook/connections', { body: { name: title.trim() } })
      keepKey(webhook.id, webhook.apiKey?.apiKey)
      await addToProject(project, webhook.id)
      return webhook
    },
    onSuccess: async ({ id }) => {
      onMade(id)
      setTitle('')
      await added()
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
        placeholder={`${project.name} deployments`}
        value={title}
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        maxLength={100}
        required
        w={320}
        maw="100%"
      />
      <Button type="submit" loading={create.isPending} disabled={title.trim() === ''}>
        Create webhook
      </Button>
    </form>
  )
}

interface AttachProps {
  readonly project: Project
  /** Webhooks that do not belong to the project. */
  readonly webhooks: readonly Webhook[]
  readonly onAttached: (id: number) => void
}

function Attach({ project, webhooks, onAttached }: AttachProps) {
  const [chosen, setChosen] = useState<string | null>(null)
  const attach = useMutation({
    mutationFn: async (id: number) => {
      await addToProject(project, id)
      return id
    },
    onSuccess: async (id) => {
      onAttached(id)
      setChosen(null)
      await added()
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'The webhook was not attached', message }),
  })
  if (webhooks.length === 0) return null
  function submit(event: FormEvent) {
    event.preventDefault()
    if (chosen) attach.mutate(Number(chosen))
  }
  return (
    <form onSubmit={submit} className="actions" style={{ alignItems: 'flex-end' }}>
      <Select
        label="Webhook that exists"
        placeholder="Choose one"
        data={webhooks.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={chosen}
        onChange={setChosen}
        searchable
        w={320}
        maw="100%"
      />
      <Button type="submit" variant="default" loading={attach.isPending} disabled={chosen === null}>
        Attach webhook
      </Button>
    </form>
  )
}
