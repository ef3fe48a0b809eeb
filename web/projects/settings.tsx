import { Button, Switch, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { AskFirst } from '../parts/ask-first.tsx'
import { Targets } from '../parts/targets.tsx'
import { counted } from '../parts/words.ts'
import { useFreeName } from './create.tsx'
import { leaving, useSaveProject } from './save.ts'

export function Settings({ project }: { readonly project: Project }) {
  return (
    <div className="stack">
      <Name key={project.updatedAt} project={project} />
      <Metrics project={project} />
      <Targets owner={{ project: project.name }} />
      <Delete project={project} />
    </div>
  )
}

function Name({ project }: { readonly project: Project }) {
  const [name, setName] = useState(project.name)
  const [description, setDescription] = useState(project.description)
  const navigate = useNavigate()
  const taken = useFreeName(name, project.name)
  const { save, isSaving, conflict } = useSaveProject(
    project,
    'The project was not changed',
    (saved) => {
      notifications.show({ title: 'Saved', message: saved.name })
      if (saved.name !== project.name)
        return navigate({ to: '/projects/$name', params: { name: saved.name }, search: { tab: 'settings' } })
    },
    (current) => {
      setName(current.name)
      setDescription(current.description)
    },
  )
  const isChanged = name.trim() !== project.name || description !== project.description
  function submit(event: FormEvent) {
    event.preventDefault()
    save({ name: name.trim(), description })
  }
  return (
    <section className="card">
      <h2 style={{ marginBottom: 12 }}>Name and description</h2>
      <form onSubmit={submit} className="field-grid">
        <TextInput
          label="Name"
          description="Runs, dashboards and webhooks follow a new name; addresses of pages that were shared do not."
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={taken}
          maxLength={100}
          required
        />
        <Textarea
          label="Description"
          value={description}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          maxLength={1000}
          autosize
          minRows={2}
        />
        <div>
          <Button type="submit" loading={isSaving} disabled={!isChanged || name.trim() === '' || taken !== undefined}>
            Save
          </Button>
        </div>
      </form>
      {conflict}
    </section>
  )
}

/** Describes the results of each calculation, because the plugin's own title says less. */
const SAYS: Readonly<Record<string, string>> = {
  dora: 'The four keys: lead time, deployment frequency, change failure rate and recovery time.',
  linker: 'Finds the issues that pull requests speak of, by a pattern.',
  issue_trace: 'How long issues stay in each status, and with whom.',
}

function Metrics({ project }: { readonly project: Project }) {
  const plugins = useQuery({ ...question('GET /plugins'), staleTime: Number.POSITIVE_INFINITY })
  const { save, isSaving, conflict } = useSaveProject(project, 'The metrics were not changed')
  const names = (plugins.data ?? []).filter(({ metric }) => metric.isProjectMetric).map(({ plugin }) => plugin)
  const of = (name: string) => project.metrics.find(({ pluginName }) => pluginName === name)
  const pattern = (of('linker')?.pluginOption as { prToIssueRegexp?: string } | undefined)?.prToIssueRegexp ?? ''
  function change(name: string, next: { readonly enable?: boolean; readonly pluginOption?: object }) {
    const others = project.metrics.filter(({ pluginName }) => pluginName !== name)
    save({ metrics: [...others, { pluginOption: {}, enable: true, ...of(name), ...next, pluginName: name }] })
  }
  return (
    <section className="card">
      <h2 style={{ marginBottom: 4 }}>What is calculated</h2>
      <p className="small quiet" style={{ marginBottom: 12 }}>
        After everything is collected; from the next run on.
      </p>
      <div className="lines" style={{ maxWidth: 640 }}>
        {names.map((name) => (
          <div key={name}>
            <Switch
              label={<span className="mono">{name}</span>}
              description={SAYS[name]}
              checked={of(name)?.enable ?? false}
              disabled={isSaving}
              onChange={({ currentTarget }) => change(name, { enable: currentTarget.checked })}
            />
            {name === 'linker' && of(name)?.enable && (
              <LinkerPattern
                key={pattern}
                pattern={pattern}
                isSaving={isSaving}
                onSave={(prToIssueRegexp) => change(name, { pluginOption: { prToIssueRegexp } })}
              />
            )}
          </div>
        ))}
      </div>
      {conflict}
    </section>
  )
}

interface LinkerPatternProps {
  readonly pattern: string
  readonly isSaving: boolean
  readonly onSave: (pattern: string) => void
}

function LinkerPattern({ pattern, isSaving, onSave }: LinkerPatternProps) {
  const [text, setText] = useState(pattern)
  return (
    <form
      className="actions"
      style={{ alignItems: 'flex-end', margin: '8px 0 0 52px' }}
      onSubmit={(event) => {
        event.preventDefault()
        onSave(text)
      }}
    >
      <TextInput
        label="Pattern of an issue's key in a pull request"
        placeholder="[A-Z]+-\d+"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        maxLength={1000}
        styles={{ input: { fontFamily: 'var(--mono)' } }}
      />
      <Button type="submit" variant="default" disabled={text === pattern} loading={isSaving}>
        Save pattern
      </Button>
    </form>
  )
}

function Delete({ project: { name, blueprint } }: { readonly project: Project }) {
  const [isAsking, setAsking] = useState(false)
  const navigate = useNavigate()
  const scopes = blueprint?.connections.reduce((sum, each) => sum + each.scopes.length, 0) ?? 0
  const isSentTo = blueprint?.connections.some(({ pluginName }) => pluginName === 'webhook')
  async function remove() {
    await ask('DELETE /projects/{projectName}', { path: { projectName: name } })
    await leaving(name, undefined, () => navigate({ to: '/projects' }))
    notifications.show({
      title: 'Deleted',
      message: `The project ${name} was deleted; the collected data is still there.`,
    })
  }
  return (
    <section className="card">
      <h2 style={{ marginBottom: 4 }}>Delete this project</h2>
      <p className="quiet" style={{ marginBottom: 12, maxWidth: 640 }}>
        It goes with its blueprint and its numbers; what was collected stays.
      </p>
      <Button variant="default" onClick={() => setAsking(true)}>
        Delete project
      </Button>
      {isAsking && (
        <AskFirst title={`Delete ${name}?`} action="Delete project" act={remove} onClose={() => setAsking(false)}>
          <p style={{ marginBottom: 8 }}>
            <b>Goes:</b> the project, its blueprint and schedule, its four keys.
          </p>
          <p>
            <b>Stays:</b> {counted(scopes, 'scope')} with all collected data, connections, rules and past runs. A new
            project of the same scopes has the same numbers after one run.
          </p>
          {isSentTo && (
            <p style={{ marginTop: 8 }}>
              <b>Its webhooks stay, too,</b> with what was sent to them. If messages are sent to the address of the
              project, a new project called {name} takes up the webhook {name}_deployments with its first message, and
              counts what was sent before. Delete the webhook if that is not meant.
            </p>
          )}
        </AskFirst>
      )}
    </section>
  )
}
