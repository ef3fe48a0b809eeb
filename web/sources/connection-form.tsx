import { Button, Collapse, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { SettingField as Field } from '../api/description.ts'
import type { Source } from '../api/sources.ts'
import { useSave } from '../parts/conflict.tsx'
import { useDraft } from '../parts/draft.ts'
import { FieldInput, fieldOf, WithCode } from '../parts/fields.tsx'
import { Asked } from '../parts/parts.tsx'
import { type Connection, refreshConnections, type TestResult, testStored, testUnsaved, useSource } from './asked.ts'
import { TestOutcome } from './test-outcome.tsx'

interface ConnectionFormProps {
  readonly plugin: string
  /** The connection to change; left out: a new one. */
  readonly connection?: Connection
  readonly onSaved: (connection: Connection) => void
}

/** Creates or changes a connection. It can be saved once a test has passed with exactly these settings. */
export function ConnectionForm({ plugin, connection, onSaved }: ConnectionFormProps) {
  const { sources, source } = useSource(plugin)
  return (
    <Asked of={sources} lines={6}>
      {() =>
        source ? (
          <Form
            key={`${plugin} ${connection?.id}`}
            source={source}
            {...(connection && { connection })}
            onSaved={onSaved}
          />
        ) : (
          <p className="bad">There is no source called {plugin}.</p>
        )
      }
    </Asked>
  )
}

type Values = Readonly<Record<string, unknown>>
const isSame = (left: unknown, right: unknown) => JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

/** Initial values of the form; stored secrets stay on the server. */
const initialOf = ({ connection: fields, title }: Source, stored: Connection | undefined): Values => ({
  name: stored?.name ?? title,
  ...Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.kind === 'secret' ? '' : stored ? stored[name] : (field.default ?? ''),
    ]),
  ),
})

interface FormProps {
  readonly source: Source
  readonly connection?: Connection
  readonly onSaved: (connection: Connection) => void
}

function Form({ source, connection, onSaved }: FormProps) {
  const { plugin, connection: fields } = source
  const [seen, setSeen] = useState(connection)
  const [draft, setDraft] = useDraft<Values>(`connection ${plugin} ${connection?.id ?? 'new'}`, {})
  // Kept only in the memory of this page, because drafts outlive it.
  const [secrets, setSecrets] = useState<Values>({})
  const initial = initialOf(source, seen)
  const values: Values = { ...initial, ...draft, ...secrets }
  const [passed, setPassed] = useState<string>()
  const [isMore, setMore] = useState(false)
  const heading = useId()

  const isUsed = ([, field]: readonly [string, Field]) =>
    !field.isManaged && (field.authMethod === undefined || field.authMethod === values.authMethod)
  const used = Object.entries(fields).filter(isUsed)
  const isRare = ({ isOptional, kind }: Field) => isOptional || kind === 'boolean'

  /** The values to send: all for a new connection, only the different ones for a stored connection. */
  const sent = Object.fromEntries(
    used
      .filter(([name, { kind }]) =>
        kind === 'secret' ? values[name] !== '' : !seen || !isSame(values[name], seen[name]),
      )
      .map(([name]) => [name, values[name]]),
  )
  const mark = JSON.stringify(sent)
  // A refresh token can be used only once, and a test would use it up.
  const isUntestable = used.some(([, { isRotated }]) => isRotated)
  const needsTest = !isUntestable && (!seen || Object.keys(sent).length > 0)
  const isChanged = !seen || Object.keys(sent).length > 0 || values.name !== seen.name

  function set(name: string, value: unknown) {
    if (fields[name]?.kind === 'secret') setSecrets({ ...secrets, [name]: value })
    else setDraft({ ...draft, [name]: value })
    create.reset()
    update.forget()
    test.reset()
  }

  const test = useMutation<TestResult>({
    mutationFn: () =>
      seen ? testStored(plugin, seen.id, sent) : testUnsaved(plugin, { ...sent, name: String(values.name ?? '') }),
    onSuccess: ({ success }) => setPassed(success ? mark : undefined),
  })
  async function saved(stored: Connection) {
    setDraft(undefined)
    setSecrets({})
    setSeen(stored)
    onSaved(stored)
    // The result is stored with the connection and shown in the list.
    await testStored(plugin, stored.id).catch(() => undefined)
    await refreshConnections()
  }
  const create = useMutation({
    mutationFn: () =>
      ask('POST /plugins/{plugin}/connections', {
        path: { plugin },
        body: { ...sent, name: String(values.name) },
      }),
    onSuccess: (stored) => void saved(stored),
  })
  const update = useSave<Connection>({
    send: (changes, header) =>
      ask('PATCH /plugins/{plugin}/connections/{connectionId}', {
        path: { plugin, connectionId: seen?.id ?? 0 },
        header,
        body: changes,
      }),
    labels: { name: 'Name', ...Object.fromEntries(used.map(([name, { label }]) => [name, label])) },
    show: (name, value) => shownValue(fields[name], value),
    onSaved: (stored) => void saved(stored),
    onTheirs(current, kept) {
      setSeen(current)
      setDraft(Object.fromEntries(Object.entries(kept).filter(([name]) => fields[name]?.kind !== 'secret')))
    },
  })
  const failure = create.error ?? update.failure ?? test.error
  const wrong = failure ? fieldOf(failure.message, ['name', ...used.map(([name]) => name)]) : undefined
  const errorOf = (name: string) => (wrong === name ? failure?.message : undefined)
  const isPassed = passed === mark

  function submit(event: FormEvent) {
    event.preventDefault()
    if (needsTest && !isPassed) test.mutate()
    else if (seen) update.save(seen, { ...sent, ...(values.name !== seen.name && { name: values.name }) })
    else create.mutate()
  }

  const inputOf = ([name, field]: readonly [string, Field]) => (
    <FieldInput
      key={name}
      field={field}
      value={values[name]}
      onChange={(value) => set(name, value)}
      error={errorOf(name)}
      stored={field.kind === 'secret' && seen ? String(seen[name] || '') || undefined : undefined}
    />
  )
  const rare = used.filter(([, field]) => isRare(field))
  const isOpen = isMore || rare.some(([name]) => name === wrong)
  return (
    <form onSubmit={submit} className="beside" aria-labelledby={heading} noValidate>
      <section className="card form">
        <h2 id={heading}>{seen ? 'How it is reached' : `Where your ${source.title} is`}</h2>
        <TextInput
          label="Name"
          description="What it is called here, such as your organisation."
          value={String(values.name ?? '')}
          onChange={({ currentTarget }) => set('name', currentTarget.value)}
          error={errorOf('name')}
          required
          maxLength={100}
        />
        {used.filter(([, field]) => !isRare(field)).map(inputOf)}
        {rare.length > 0 && (
          <div>
            <Button
              variant="subtle"
              size="compact-sm"
              style={{ marginLeft: -8 }}
              aria-expanded={isOpen}
              onClick={() => setMore(!isOpen)}
            >
              {isOpen ? 'Fewer settings' : 'More settings'}
            </Button>
            {!isOpen && <span className="small quiet"> {rare.map(([, { label }]) => label).join(', ')}</span>}
            <Collapse expanded={isOpen}>
              <div style={{ display: 'grid', gap: 20, paddingTop: 12 }}>{rare.map(inputOf)}</div>
            </Collapse>
          </div>
        )}
        <TestOutcome
          test={test}
          isHidden={wrong !== undefined}
          isOld={test.data !== undefined && !isPassed && test.data.success}
        />
        {failure && !wrong && !test.error && (
          <p role="alert" className="bad">
            {failure.message}
          </p>
        )}
        <div className="actions">
          {needsTest && (
            <Button variant={isPassed ? 'default' : 'filled'} loading={test.isPending} onClick={() => test.mutate()}>
              Test connection
            </Button>
          )}
          <Button
            type="submit"
            variant={needsTest && !isPassed ? 'default' : 'filled'}
            disabled={!isChanged || (needsTest && !isPassed)}
            loading={create.isPending || update.isSaving}
          >
            Save
          </Button>
          <span className="small quiet">
            {!isChanged
              ? 'Nothing is changed.'
              : needsTest && !isPassed
                ? 'It can be saved when the test has passed.'
                : isUntestable && 'Its refresh token works only once, so it is tested after saving.'}
          </span>
        </div>
      </section>
      <Rights source={source} />
      {update.conflict}
    </form>
  )
}

function shownValue(field: Field | undefined, value: unknown) {
  if (field?.kind === 'secret') return value ? 'another secret' : 'the same'
  if (value === null || value === undefined || value === '' || value === 0)
    return <span className="faint">nothing</span>
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}

/** Shows what the credentials must allow, before the user creates a token. */
function Rights({ source: { title, rights, endpoint } }: { readonly source: Source }) {
  if (rights.length === 0) return null
  return (
    <aside className="card quiet small" style={{ display: 'grid', gap: 12, alignContent: 'start' }}>
      <h2 style={{ color: 'var(--text)' }}>What {title} must allow</h2>
      {rights.map((line) => (
        <p key={line}>
          <WithCode>{line}</WithCode>
        </p>
      ))}
      {endpoint && (
        <p>
          {title} usually is at <code className="mono">{endpoint}</code>
        </p>
      )}
      <p>Secrets are stored encrypted and are never shown again.</p>
    </aside>
  )
}
