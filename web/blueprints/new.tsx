import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Blueprint } from '../api/description.ts'
import { useDraft } from '../parts/draft.ts'
import { Page } from '../parts/parts.tsx'
import { PlanEditor, planIn, textOf } from './plan-editor.tsx'
import { PlanPreview } from './plan-preview.tsx'
import { refreshBlueprints } from './save.ts'
import { type Schedule, SchedulePicker } from './schedule.tsx'

const place = getRouteApi('/blueprints/new')

interface Draft extends Schedule {
  readonly name: string
  readonly text: string
}

/** The form for a new blueprint whose plan is written by hand. */
export function NewBlueprint() {
  const { project } = place.useSearch()
  const navigate = place.useNavigate()
  const [draft, setDraft] = useDraft<Draft>(`new blueprint ${project ?? ''}`, {
    name: project ? `${project}-Blueprint` : '',
    isManual: true,
    cronConfig: '0 0 * * *',
    text: textOf([]),
  })
  const [isPlanOpen, setPlanOpen] = useState(false)
  const plan = planIn(draft.text) as Blueprint['plan'] | undefined
  const { text: _, ...rest } = draft
  const body = { ...rest, name: draft.name.trim(), mode: 'ADVANCED' as const, ...(plan && { plan }) }
  const create = useMutation({
    mutationFn: () => ask('POST /blueprints', { body: { ...body, ...(project && { projectName: project }) } }),
    onSuccess: async ({ id }) => {
      setDraft(undefined)
      await refreshBlueprints()
      void navigate({ to: '/blueprints/$id', params: { id: String(id) } })
    },
  })
  const isReady = draft.name.trim() !== '' && plan !== undefined && plan.length > 0
  return (
    <Page
      title="New blueprint"
      says={
        project ? `Its plan runs for ${project}, exactly as you write it.` : 'Its plan runs exactly as you write it.'
      }
      actions={
        <Button onClick={() => create.mutate()} loading={create.isPending} disabled={!isReady}>
          Create blueprint
        </Button>
      }
    >
      {create.error && (
        <div className="notice" role="alert">
          {create.error.message}
        </div>
      )}
      <div className="beside">
        <PlanEditor text={draft.text} onText={(text) => setDraft({ ...draft, text })} isReadOnly={false} />
        <div className="stack">
          <section className="card">
            <TextInput
              label="Name"
              value={draft.name}
              onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
              maxLength={255}
              required
            />
          </section>
          <section className="card">
            <h2 style={{ marginBottom: 12 }}>When</h2>
            <SchedulePicker value={draft} onChange={(next) => setDraft({ ...draft, ...next })} />
          </section>
          <Button variant="default" onClick={() => setPlanOpen(true)} disabled={!plan || plan.length === 0}>
            Show the plan
          </Button>
        </div>
      </div>
      <PlanPreview
        isOpen={isPlanOpen}
        onClose={() => setPlanOpen(false)}
        draft={plan && { name: draft.name || 'draft', mode: 'ADVANCED', isManual: true, plan }}
      />
    </Page>
  )
}
