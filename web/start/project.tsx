import { Button, Checkbox, Select, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import { refresh } from '../api/queries.ts'
import { useDraft } from '../parts/draft.ts'
import { Page } from '../parts/parts.tsx'
import { allScopes, type ConnectionOverview } from '../sources/asked.ts'
import { scopesWord } from '../sources/rules/asked.ts'
import type { Way } from './way.ts'

interface ProjectStepProps {
  readonly way: Way
  onAnother(): void
  onDone(project: string): void
}

const BACK = [
  { value: '3', label: 'Three months' },
  { value: '6', label: 'Six months' },
  { value: '12', label: 'A year' },
  { value: '24', label: 'Two years' },
]

interface Draft {
  readonly name: string
  readonly months: string
  /** Connections that the user has taken out again. */
  readonly without: readonly string[]
}

const keyOf = ({ plugin, id }: ConnectionOverview) => `${plugin} ${id}`

export function ProjectStep({ way: { connections, sources }, onAnother, onDone }: ProjectStepProps) {
  const [draft, setDraft] = useDraft<Draft>('start project', { name: '', months: '6', without: [] })
  const [isTouched, setTouched] = useState(false)
  const offered = connections.filter(({ scopes }) => scopes > 0)
  const taken = offered.filter((each) => !draft.without.includes(keyOf(each)))
  const create = useMutation({
    mutationFn: async () => {
      const parts = []
      for (const { plugin, id } of taken) {
        const scopes = await allScopes(plugin, id)
        parts.push({ pluginName: plugin, connectionId: id, scopes: scopes.map(({ id: scopeId }) => ({ scopeId })) })
      }
      const since = new Date()
      since.setUTCMonth(since.getUTCMonth() - Number(draft.months))
      const project = await ask('POST /projects', {
        body: {
          name: draft.name.trim(),
          metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
          blueprint: { connections: parts, timeAfter: since.toISOString() },
        },
      })
      // The project exists now. If its run does not start, the next step shows that, with a button that tries again.
      if (project.blueprint) {
        const start = { path: { id: project.blueprint.id }, body: {} }
        await ask('POST /blueprints/{id}/trigger', start).catch(() => undefined)
      }
      return project
    },
    onSuccess: async ({ name }) => {
      setDraft(undefined)
      await refresh('GET /projects', 'GET /pipelines', 'GET /v1/connections/{plugin}/{connectionId}/scopes')
      onDone(name)
    },
  })
  const isEmpty = draft.name.trim() === ''
  function submit(event: FormEvent) {
    event.preventDefault()
    setTouched(true)
    if (!isEmpty && taken.length > 0) create.mutate()
  }
  return (
    <Page
      title="What does your team call it?"
      says="A project is what a team ships: its code, its issues, its deployments. It has the four keys."
    >
      <form onSubmit={submit} noValidate className="card stack" style={{ maxWidth: 640, gap: 24 }}>
        <TextInput
          label="Name of the project"
          placeholder="Shop, Payments, Mobile app"
          value={draft.name}
          onChange={({ currentTarget: { value } }) => {
            create.reset()
            setDraft({ ...draft, name: value })
          }}
          error={create.error?.message ?? (isTouched && isEmpty ? 'Give it a name.' : undefined)}
          maxLength={100}
          required
          autoFocus
        />
        <fieldset className="bare stack" style={{ gap: 12 }}>
          <legend>What belongs to it</legend>
          {offered.map((each) => {
            const source = sources.find(({ plugin }) => plugin === each.plugin)
            return (
              <Checkbox
                key={keyOf(each)}
                label={<bdi>{each.name}</bdi>}
                description={source ? `${each.title}, ${scopesWord(source, each.scopes)}` : each.title}
                checked={taken.includes(each)}
                onChange={({ currentTarget: { checked } }) =>
                  setDraft({
                    ...draft,
                    without: checked
                      ? draft.without.filter((key) => key !== keyOf(each))
                      : [...draft.without, keyOf(each)],
                  })
                }
              />
            )
          })}
          <p className="small quiet">
            Issues or builds live elsewhere?{' '}
            <button type="button" className="link" onClick={onAnother}>
              Connect another tool
            </button>
          </p>
        </fieldset>
        <Select
          label="How far back"
          description="More takes longer to collect, and can be collected later."
          data={BACK}
          value={draft.months}
          onChange={(months) => months && setDraft({ ...draft, months })}
          allowDeselect={false}
          maw={360}
        />
        <div>
          <Button type="submit" loading={create.isPending} disabled={taken.length === 0}>
            Create and collect
          </Button>
          <p className="small quiet" style={{ marginTop: 8 }}>
            From then on it collects what is new every day at midnight UTC.
          </p>
        </div>
      </form>
    </Page>
  )
}
