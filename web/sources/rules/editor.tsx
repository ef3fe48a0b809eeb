import { Button, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { ask, Refused } from '../../api/ask.ts'
import { refresh } from '../../api/queries.ts'
import type { Source } from '../../api/sources.ts'
import { useMay } from '../../frame/sign-in.tsx'
import { useSave } from '../../parts/conflict.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Page } from '../../parts/parts.tsx'
import { counted } from '../../parts/words.ts'
import { fieldsOf, type Names, projectsQuestion, type RuleConfig, type RuleValues, scopesWord } from './asked.ts'
import { Preview } from './preview.tsx'
import { Entities, RuleFields } from './rule-fields.tsx'
import { ScopesDrawer } from './scopes-drawer.tsx'

const place = getRouteApi('/sources/$plugin/$id/rules/$config')

interface EditorProps {
  readonly source: Source
  readonly connection: { readonly id: number; readonly name: string }
  readonly stored: RuleConfig | undefined
  readonly names: Names | undefined
}

interface Draft {
  /** The stored rules when editing began. */
  readonly seen: RuleConfig | undefined
  readonly values: RuleValues
}

/** Values for new rules: suggestions from the names that were found, or else the usual ones. */
export const startingRules = (source: Source, names: Names | undefined): RuleValues => {
  const found = new Map(names?.suggestions.map(({ field, value }) => [field, value]))
  const fields = fieldsOf(source).filter(([, { isOnRequest }]) => !isOnRequest)
  return Object.fromEntries(
    fields.map(([name, { kind, suggestion }]) => {
      const nothing = kind === 'json' || kind === 'strings' ? null : ''
      return [name, found.get(name) ?? suggestion ?? nothing]
    }),
  )
}

/** Leaves out the fields that only the server sets. */
export const sendable = (source: Source, values: RuleValues): RuleValues => {
  const names = ['name', 'entities', ...fieldsOf(source).map(([name]) => name)]
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]))
}

export function Editor({ source, connection, stored, names }: EditorProps) {
  const { plugin } = source
  const navigate = place.useNavigate()
  const { scopes, project } = place.useSearch()
  const may = useMay('admin')
  const initial: Draft = {
    seen: stored,
    values: stored ?? { name: '', entities: source.entities, ...startingRules(source, names) },
  }
  const [draft, setDraft, isDraft] = useDraft(`rules ${plugin} ${connection.id} ${stored?.id ?? 'new'}`, initial)
  const users = useQuery({ ...projectsQuestion(plugin, stored?.id ?? 0), enabled: stored !== undefined })
  const projects = users.data?.projects ?? []
  const change = (name: string, value: unknown) =>
    setDraft({ seen: draft.seen, values: { ...draft.values, [name]: value } })
  const path = { plugin, connectionId: connection.id }
  const isTransforming = useRef(false)

  async function saved(config: RuleConfig) {
    setDraft(undefined)
    await refresh(
      'GET /plugins/{plugin}/connections/{connectionId}/scope-configs',
      'GET /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}',
      'GET /v1/connections/{plugin}/{connectionId}/scopes',
    )
    // The rules are new, or were created again because the stored ones are gone.
    if (config.id !== stored?.id) {
      const params = { plugin, id: String(connection.id), config: String(config.id) }
      void navigate({ to: '/sources/$plugin/$id/rules/$config', params, search: { scopes: true }, replace: true })
    } else if (isTransforming.current) transform.mutate(projects)
    else notifications.show({ message: `${config.name} is saved. It applies from the next run on.` })
  }
  const transform = useMutation({
    mutationFn: (all: typeof projects) =>
      Promise.all(
        all.map(({ blueprintId }) =>
          ask('POST /blueprints/{id}/trigger', { path: { id: blueprintId }, body: { skipCollectors: true } }),
        ),
      ),
    onSuccess: async (runs) => {
      await refresh('GET /pipelines')
      const [first] = runs
      if (first && runs.length === 1) void navigate({ to: '/runs/$id', params: { id: String(first.id) } })
      else notifications.show({ message: `Saved. ${counted(runs.length, 'project')} are transformed again.` })
    },
    onError: ({ message }) =>
      notifications.show({ color: 'red', title: 'It is saved, but nothing was transformed', message }),
  })
  const create = useMutation({
    mutationFn: (values: RuleValues) =>
      ask('POST /plugins/{plugin}/connections/{connectionId}/scope-configs', {
        path,
        body: values as { name: string },
      }),
    onSuccess: saved,
  })
  const { save, isSaving, failure, conflict } = useSave<RuleConfig>({
    send: (changes, header) =>
      ask('PATCH /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}', {
        path: { ...path, scopeConfigId: stored?.id ?? 0 },
        header,
        body: changes,
      }),
    labels: {
      name: 'Name',
      entities: 'What is collected',
      ...Object.fromEntries(fieldsOf(source).map(([name, { label }]) => [name, label])),
    },
    onSaved: saved,
    onTheirs: (current, kept) => setDraft({ seen: current, values: { ...current, ...kept } }),
  })

  function submit(andTransform: boolean) {
    isTransforming.current = andTransform
    const values = sendable(source, draft.values)
    if (stored) save(draft.seen ?? stored, values)
    else create.mutate(values)
  }
  const problem = create.error ?? failure
  const isGone = stored !== undefined && problem instanceof Refused && problem.status === 404
  const isBusy = isSaving || create.isPending || transform.isPending
  const title = stored ? stored.name : 'New rules'
  return (
    <Page
      title={title}
      says={
        <>
          What counts as a deployment, a bug, an incident in{' '}
          <Link
            to="/sources/$plugin/$id/rules"
            params={{ plugin, id: String(connection.id) }}
            style={{ textDecoration: 'underline' }}
          >
            {connection.name}
          </Link>
          .
        </>
      }
      actions={
        may && (
          <>
            {isDraft && (
              <Button variant="subtle" color="gray" onClick={() => setDraft(undefined)}>
                Discard changes
              </Button>
            )}
            {stored && (
              <Button
                variant="default"
                onClick={() => void navigate({ search: { ...(project && { project }), scopes: true } })}
              >
                Where it holds
              </Button>
            )}
            {projects.length > 0 && (
              <Button variant="default" onClick={() => submit(true)} loading={isBusy && isTransforming.current}>
                Save and re-transform
              </Button>
            )}
            <Button onClick={() => submit(false)} loading={isBusy && !isTransforming.current}>
              Save
            </Button>
          </>
        )
      }
    >
      {problem && (
        <Notice>
          <span>{problem.message}</span>
          {isGone && (
            <Button variant="default" size="xs" onClick={() => create.mutate(sendable(source, draft.values))}>
              Save as new rules
            </Button>
          )}
        </Notice>
      )}
      <Basis names={names} source={source} />
      <WhoseNumbers projects={projects.map(({ name }) => name)} />
      <div className="rules">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            submit(false)
          }}
        >
          <section className="card panel" aria-label="Name">
            <TextInput
              label="Name"
              description="What people call these rules, such as “services” or “mobile apps”."
              value={String(draft.values.name ?? '')}
              onChange={({ currentTarget }) => change('name', currentTarget.value)}
              readOnly={!may}
              maxLength={255}
              required
            />
          </section>
          <RuleFields source={source} values={draft.values} names={names} isReadOnly={!may} onChange={change} />
          <Entities
            known={source.entities}
            chosen={(draft.values.entities ?? []) as readonly string[]}
            isReadOnly={!may}
            onChange={(entities) => change('entities', entities)}
          />
          <button type="submit" hidden />
        </form>
        <Preview
          source={source}
          connectionId={connection.id}
          values={draft.values}
          projects={projects.map(({ name }) => name)}
          project={project}
          onProject={(next) => void navigate({ search: { project: next }, replace: true })}
        />
      </div>
      {conflict}
      {stored && (
        <ScopesDrawer
          source={source}
          connectionId={connection.id}
          config={stored}
          isOpen={scopes === true}
          onClose={() => void navigate({ search: { ...(project && { project }) } })}
        />
      )}
    </Page>
  )
}

function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <div className="notice" role="alert" style={{ background: 'var(--bad-ground)' }}>
      {children}
    </div>
  )
}

/** Says where the names come from; nothing if they come from stored data. */
export function Basis({ names, source }: { readonly names: Names | undefined; readonly source: Source }) {
  if (!names || names.basis === 'stored') return null
  if (names.problem)
    return (
      <div className="notice">
        <span>Not all names could be asked for: {names.problem}</span>
      </div>
    )
  return (
    <p className="small quiet" style={{ marginBottom: 16 }}>
      {names.basis === 'sample'
        ? `Nothing is collected yet: the names below are the newest of ${scopesWord(source, names.scopes)}, asked for just now.`
        : names.scopes === 0
          ? 'No scopes are chosen yet, so there are no names to show; the rules below are the default ones.'
          : 'The source tells no names yet; the rules below are the default ones.'}
    </p>
  )
}

/** Rules belong to scopes, so projects that share a scope share its rules. */
function WhoseNumbers({ projects }: { readonly projects: readonly string[] }) {
  const [first] = projects
  if (first === undefined) return null
  if (projects.length === 1) return <p className="quiet">These rules make the numbers of {first}.</p>
  return (
    <div className="notice" role="note" aria-label="Whose numbers change">
      <span>
        <b>{projects.length} projects share these rules.</b> What you save changes the numbers of{' '}
        <bdi>{projects.join(', ')}</bdi>.
      </span>
    </div>
  )
}
