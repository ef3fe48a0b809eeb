import { Button, Menu, Modal } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Mapping, OwnField } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import { ACTIONS, CardTable } from '../parts/table.tsx'
import './data.css'
import { fillNow } from './fill.ts'

const failed = (title: string) => (error: Error) => notifications.show({ color: 'red', title, message: error.message })

export function FieldsPage() {
  const fields = useQuery(question('GET /v1/fields'))
  const may = useMay('admin')
  return (
    <Page
      title="Custom fields"
      says="Columns of your own in the shared tables, filled from what sources send. Their names begin with x_."
      actions={may && <Button renderRoot={(props) => <Link to="/data/fields/map" {...props} />}>Add field</Button>}
    >
      <Asked of={fields}>
        {({ fields: all }) =>
          all.length === 0 ? (
            <Empty title="No custom fields yet" action={<Link to="/data">Look at the data</Link>}>
              Say you keep the risk of a change in a field of Jira. Add a field, click the value in a record that was
              collected, and every issue has it: in queries, exports and dashboards, now and after every run.
            </Empty>
          ) : (
            <CardTable heads={['Field', 'Table', 'Type', 'Filled by', ACTIONS]}>
              {all.map((field) => (
                <FieldRow key={`${field.table} ${field.columnName}`} field={field} may={may} />
              ))}
            </CardTable>
          )
        }
      </Asked>
    </Page>
  )
}

function FieldRow({ field, may }: { readonly field: OwnField; readonly may: boolean }) {
  const { table, columnName, displayName, dataType, description, filledBy } = field
  const [isDeleted, setDeleted] = useState(false)
  return (
    <tr>
      <td style={{ maxWidth: 280 }}>
        <div className="cut" style={{ fontWeight: 500 }} title={displayName}>
          {displayName || columnName}
        </div>
        <div className="mono quiet">{columnName}</div>
        {description && <div className="small quiet">{description}</div>}
      </td>
      <td className="mono">{table}</td>
      <td className="mono">{dataType}</td>
      <td>
        {filledBy.length === 0 ? (
          <span className="faint">nothing yet</span>
        ) : (
          filledBy.map((mapping) => (
            <Filling
              key={`${mapping.blueprintId} ${mapping.rawTable} ${mapping.rawParams}`}
              mapping={mapping}
              may={may}
            />
          ))
        )}
      </td>
      <td className="right" style={{ whiteSpace: 'nowrap' }}>
        {may && (
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="subtle" size="compact-sm" aria-label={`Actions for ${columnName}`}>
                •••
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                renderRoot={(props) => <Link to="/data/fields/map" search={{ table, field: columnName }} {...props} />}
              >
                Fill it from a record
              </Menu.Item>
              <Menu.Item color="red" onClick={() => setDeleted(true)}>
                Delete field
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
        <DeleteField field={field} isOpen={isDeleted} close={() => setDeleted(false)} />
      </td>
    </tr>
  )
}

function Filling({ mapping, may }: { readonly mapping: Mapping; readonly may: boolean }) {
  const navigate = useNavigate()
  const mayRun = useMay('operator')
  const fill = useMutation({
    mutationFn: () => fillNow(mapping),
    onSuccess: ({ id }) => navigate({ to: '/runs/$id', params: { id: String(id) } }),
    onError: failed('No run was started'),
  })
  const stop = useMutation({ mutationFn: () => stopFilling(mapping), onError: failed('Nothing was changed') })
  return (
    <div className="row" style={{ alignItems: 'center' }}>
      <div style={{ minWidth: 0 }}>
        <Link to="/projects/$name" params={{ name: mapping.projectName }}>
          {mapping.projectName || `blueprint ${mapping.blueprintId}`}
        </Link>
        <div className="mono quiet cut" title={`${mapping.rawTable}: ${mapping.path}`} style={{ maxWidth: 320 }}>
          {mapping.path}
        </div>
      </div>
      <div className="actions">
        {mayRun && (
          <Button variant="default" size="compact-sm" loading={fill.isPending} onClick={() => fill.mutate()}>
            Fill now
          </Button>
        )}
        {may && (
          <Button variant="subtle" size="compact-sm" loading={stop.isPending} onClick={() => stop.mutate()}>
            Stop filling
          </Button>
        )}
      </div>
    </div>
  )
}

/** Stored values stay, so that this can be undone. */
async function stopFilling(mapping: Mapping): Promise<void> {
  const { blueprintId: id, table, field, rawTable, rawParams, path } = mapping
  await ask('DELETE /v1/blueprints/{id}/mappings', { path: { id }, query: { table, field, rawTable, rawParams } })
  await refresh('GET /v1/fields')
  const undo = async () => {
    notifications.hide(shown)
    try {
      await ask('POST /v1/blueprints/{id}/mappings', {
        path: { id },
        body: { table, field, rawTable, rawParams, path },
      })
    } catch (error) {
      failed('It is not filled again')(error as Error)
    }
    await refresh('GET /v1/fields')
  }
  const shown: string = notifications.show({
    title: `${table}.${field} is filled no longer`,
    message: (
      <>
        The values that it has stay.{' '}
        <Button variant="subtle" size="compact-sm" onClick={undo}>
          Undo
        </Button>
      </>
    ),
  })
}

interface DeleteFieldProps {
  readonly field: OwnField
  readonly isOpen: boolean
  readonly close: () => void
}

function DeleteField({ field: { table, columnName, filledBy }, isOpen, close }: DeleteFieldProps) {
  const remove = useMutation({
    mutationFn: async () => {
      for (const { blueprintId: id, rawTable, rawParams } of filledBy) {
        await ask('DELETE /v1/blueprints/{id}/mappings', {
          path: { id },
          query: { table, field: columnName, rawTable, rawParams },
        })
      }
      await ask('DELETE /plugins/customize/{table}/fields/{field}', { path: { table, field: columnName } })
    },
    onSuccess: async () => {
      close()
      await refresh('GET /v1/fields')
    },
    onError: failed('The field is still there'),
  })
  return (
    <Modal opened={isOpen} onClose={close} title={`Delete ${table}.${columnName}`} centered>
      <p>
        All its values are deleted, and queries that name it fail. Raw records stay: a field that is added again can be
        filled from them, but values that came by a CSV file cannot be recovered.
      </p>
      <div className="actions" style={{ justifyContent: 'flex-end', marginTop: 20 }}>
        <Button variant="default" onClick={close}>
          Keep it
        </Button>
        <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
          Delete field and values
        </Button>
      </div>
    </Modal>
  )
}
