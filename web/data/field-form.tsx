import { Button, Radio, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask, type Given } from '../api/ask.ts'
import type { Blueprint, FoundPath, OwnField } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import { useDraft } from './draft.ts'
import { fillNow } from './fill.ts'
import type { WholePlace } from './scope-select.tsx'

type NewField = Given<'POST /plugins/customize/{table}/fields'>['body']
type DataType = NewField['dataType']
const TYPES: readonly { readonly value: DataType; readonly label: string }[] = [
  { value: 'varchar(255)', label: 'Short text (255 characters)' },
  { value: 'text', label: 'Long text' },
  { value: 'bigint', label: 'Whole number' },
  { value: 'float', label: 'Number' },
  { value: 'timestamp', label: 'Moment' },
]

/** Suggests a name from what people call the value; the server says if it is not acceptable. */
const suggestedName = ({ title, keys }: FoundPath) => {
  const words = title || (keys.filter((key) => key !== '#').at(-1) ?? '')
  return `x_${words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 50)}`
}

interface FieldFormProps {
  readonly scope: WholePlace
  readonly table: string
  readonly rawTable: string
  readonly found: FoundPath
}

export function FieldForm(props: FieldFormProps) {
  const fields = useQuery(question('GET /v1/fields'))
  const blueprints = useQuery(question('GET /blueprints', { query: { pageSize: 200 } }))
  return (
    <Asked of={fields}>
      {(all) => (
        <Asked of={blueprints}>
          {(listed) => (
            <Form
              {...props}
              fields={all.fields.filter(({ table }) => table === props.table)}
              blueprints={listed.blueprints.filter(isOf(props.scope))}
            />
          )}
        </Asked>
      )}
    </Asked>
  )
}

const isOf =
  ({ plugin, connectionId, scopeId }: WholePlace) =>
  ({ connections, mode }: Blueprint) =>
    mode === 'ADVANCED' ||
    connections.some(
      (each) =>
        each.pluginName === plugin &&
        each.connectionId === connectionId &&
        (scopeId === undefined || each.scopes.some((scope) => scope.scopeId === scopeId)),
    )

interface FormProps extends FieldFormProps {
  readonly fields: readonly OwnField[]
  readonly blueprints: readonly Blueprint[]
}

const NEW = 'new field'

function Form({ scope, table, rawTable, found, fields, blueprints }: FormProps) {
  const { draft } = useDraft()
  const navigate = useNavigate()
  const known = fields.find(({ columnName }) => columnName === draft.field)
  const [field, setField] = useState(known?.columnName ?? NEW)
  const [name, setName] = useState(draft.name ?? suggestedName(found))
  const [title, setTitle] = useState(found.title || (found.keys.at(-1) ?? ''))
  const [type, setType] = useState(found.suggestion as DataType)
  const [blueprint, setBlueprint] = useState<string | null>(blueprints[0] ? String(blueprints[0].id) : null)
  const [reach, setReach] = useState<'connection' | 'scope'>('connection')
  const existing = fields.find(({ columnName }) => columnName === field)
  const isFilled = blueprint !== null && scope.scopeId !== undefined
  const save = useMutation({
    mutationFn: async () => {
      const columnName = existing?.columnName ?? name
      if (!existing)
        await ask('POST /plugins/customize/{table}/fields', {
          path: { table },
          body: { columnName, displayName: title, dataType: type },
        })
      const { plugin, connectionId, scopeId } = scope
      if (blueprint === null || scopeId === undefined) return { columnName, run: undefined }
      try {
        const { mappings } = await ask('POST /v1/blueprints/{id}/mappings', {
          path: { id: Number(blueprint) },
          body: { table, field: columnName, rawTable, path: found.path, plugin, connectionId, scopeId, reach },
        })
        const own = mappings.findLast(
          (each) =>
            each.table === table && each.field === columnName && each.rawTable === rawTable && each.path === found.path,
        )
        return { columnName, run: own && (await fillNow(own)) }
      } catch (error) {
        // The field exists by now, so another attempt only fills it.
        await refresh('GET /v1/fields')
        setField(columnName)
        throw error
      }
    },
    onSuccess: async ({ columnName, run }) => {
      await refresh('GET /v1/fields', 'GET /blueprints', 'GET /blueprints/{id}', 'GET /pipelines')
      notifications.show({
        title: `${table}.${columnName} is there`,
        message: run ? 'This run fills it now, and every run of the project after it.' : 'Nothing fills it yet.',
      })
      await (run ? navigate({ to: '/runs/$id', params: { id: String(run.id) } }) : navigate({ to: '/data/fields' }))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="card form" onSubmit={submit}>
      <h2 className="mono cut" title={found.path}>
        {found.path}
      </h2>
      <Select
        label="Field"
        data={[
          { value: NEW, label: `A new field of ${table}` },
          ...fields.map(({ columnName, displayName }) => ({
            value: columnName,
            label: displayName && displayName !== columnName ? `${columnName} · ${displayName}` : columnName,
          })),
        ]}
        value={field}
        onChange={(value) => setField(value ?? NEW)}
        allowDeselect={false}
      />
      {!existing && (
        <>
          <TextInput
            label="Column"
            description="Begins with x_; queries know the field by it."
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            maxLength={60}
            required
          />
          <TextInput
            label="Name for people"
            value={title}
            onChange={({ currentTarget }) => setTitle(currentTarget.value)}
            maxLength={255}
            required
          />
          <Select
            label="Type"
            data={TYPES}
            value={type}
            onChange={(value) => setType((value as DataType | null) ?? type)}
            allowDeselect={false}
          />
        </>
      )}
      <Preview
        scope={scope}
        table={table}
        rawTable={rawTable}
        path={found.path}
        dataType={(existing?.dataType as DataType) ?? type}
      />
      {blueprints.length > 0 && scope.scopeId !== undefined ? (
        <>
          <Select
            label="Filled by the runs of"
            data={blueprints.map(({ id, name: own, projectName }) => ({
              value: String(id),
              label: projectName || own,
            }))}
            value={blueprint}
            onChange={setBlueprint}
            placeholder="Nothing: only add the field"
            clearable
          />
          {blueprint !== null && (
            <Radio.Group label="For" value={reach} onChange={(value) => setReach(value as typeof reach)}>
              <Radio value="connection" label="all scopes of this connection" mt={6} />
              <Radio value="scope" label="this scope alone" mt={6} />
            </Radio.Group>
          )}
        </>
      ) : (
        <p className="small quiet">
          No project collects this scope, so nothing will fill the field by itself. Add the scope to a project, and come
          back.
        </p>
      )}
      {save.isError && (
        <p className="bad" role="alert">
          {save.error.message}
        </p>
      )}
      <Button type="submit" loading={save.isPending} disabled={existing !== undefined && !isFilled}>
        {existing ? 'Fill the field' : isFilled ? 'Add and fill the field' : 'Add the field'}
      </Button>
    </form>
  )
}

interface PreviewProps {
  readonly scope: WholePlace
  readonly table: string
  readonly rawTable: string
  readonly path: string
  readonly dataType: DataType
}

/** Shows the values that rows would get, and which of them would be refused. */
function Preview({ scope, table, rawTable, path, dataType }: PreviewProps) {
  const [settled] = useDebouncedValue(dataType, 150)
  const values = useQuery(
    question('GET /v1/data/values', { query: { ...scope, table, rawTable, path, dataType: settled } }),
  )
  return (
    <section aria-label="Preview">
      <h3 style={{ marginBottom: 6 }}>What it would bring</h3>
      <Asked of={values} lines={2}>
        {({ rows, filled, refused, samples }) => (
          <>
            <p className="small quiet number">
              {counted(filled, 'row')} of {rows} looked at get a value
              {refused > 0 && (
                <b className="attention">; {counted(refused, 'value')} do not fit the type and would be put aside</b>
              )}
              .
            </p>
            <table className="plain dense preview">
              <tbody>
                {samples.slice(0, 6).map(({ key, value, problem }) => (
                  <tr key={key}>
                    <td className="mono quiet" title={key}>
                      <span className="cell">{key}</span>
                    </td>
                    <td>
                      {problem ? (
                        <span className="attention" title={problem}>
                          {problem}
                        </span>
                      ) : value === null ? (
                        <span className="faint">nothing</span>
                      ) : (
                        <span className="cell" dir="auto">
                          {typeof value === 'object' ? JSON.stringify(value) : String(value)}
                        </span>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </Asked>
    </section>
  )
}
