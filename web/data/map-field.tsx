import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StoredTable } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import './data.css'
import type { FieldDraft } from './address.ts'
import { useDraft } from './draft.ts'
import { FieldForm } from './field-form.tsx'
import { PathList } from './path-list.tsx'
import { ScopeSelect, type WholePlace, wholePlace } from './scope-select.tsx'
import { shortName } from './view.ts'

export function MapFieldPage() {
  const { draft, change } = useDraft()
  const scope = wholePlace(draft)
  return (
    <Page
      title={draft.field ? `Fill ${draft.field}` : 'Add a field'}
      says="Choose a scope that has been collected, click the value that you want, and see what it would bring."
    >
      <div className="choices">
        <ScopeSelect
          place={draft}
          onChange={(chosen) =>
            change({
              scopeId: undefined,
              rawTable: undefined,
              path: undefined,
              ...chosen,
            })
          }
        />
        {scope && <TableChoice scope={scope} />}
      </div>
      {scope ? (
        <Mapped scope={scope} />
      ) : (
        <Empty title="Choose a scope first">
          Any repository or board will do whose records have the value: the field can be filled for all of its
          connection.
        </Empty>
      )}
    </Page>
  )
}

/** Only rows that were made from raw records can be filled from raw records. */
const fillable = (tables: readonly StoredTable[]) =>
  tables.filter(({ layer, origins }) => layer === 'domain' && rawOf(origins).length > 0)
const rawOf = (origins: readonly string[]) => origins.filter((name) => name.startsWith('_raw_'))

/** The tables that the address names. If it names none: `issues` if that can be filled, otherwise the first. */
function chosen(tables: readonly StoredTable[], { table, rawTable }: FieldDraft) {
  const all = fillable(tables)
  const target = all.find(({ name }) => name === table) ?? (table === undefined ? preferred(all) : undefined)
  const raws = rawOf(target?.origins ?? [])
  return { all, target, raws, raw: raws.find((name) => name === rawTable) ?? raws[0] }
}
const preferred = (tables: readonly StoredTable[]) => tables.find(({ name }) => name === 'issues') ?? tables[0]

function TableChoice({ scope }: { readonly scope: WholePlace }) {
  const { draft, change } = useDraft()
  const tables = useQuery(question('GET /v1/data/tables', { query: scope }))
  if (!tables.data) return null
  const { all, target, raws, raw } = chosen(tables.data.tables, draft)
  return (
    <>
      <Select
        label="Table that gets the field"
        data={all.map(({ name }) => name)}
        value={target?.name ?? null}
        onChange={(value) =>
          change({ table: value ?? undefined, rawTable: undefined, path: undefined, field: undefined })
        }
        searchable
      />
      {raws.length > 1 && (
        <Select
          label="Made from records of"
          data={raws.map((name) => ({ value: name, label: shortName(name) }))}
          value={raw ?? null}
          onChange={(value) => change({ rawTable: value ?? undefined, path: undefined })}
        />
      )}
    </>
  )
}

function Mapped({ scope }: { readonly scope: WholePlace }) {
  const { draft, change } = useDraft()
  const tables = useQuery(question('GET /v1/data/tables', { query: scope }))
  return (
    <Asked of={tables}>
      {({ tables: all }) => {
        const { target, raw } = chosen(all, draft)
        if (!target || !raw)
          return (
            <Empty title={draft.table ? `It has no rows of ${draft.table}` : 'Nothing was collected for it yet'}>
              Fields are filled from records that were collected: choose another scope, or run its project first.
            </Empty>
          )
        return (
          <Found
            key={raw}
            scope={scope}
            table={target.name}
            rawTable={raw}
            path={draft.path}
            choose={(path) => change({ path, table: target.name, rawTable: raw })}
          />
        )
      }}
    </Asked>
  )
}

interface FoundProps {
  readonly scope: WholePlace
  readonly table: string
  readonly rawTable: string
  readonly path: string | undefined
  readonly choose: (path: string) => void
}

function Found({ scope, table, rawTable, path, choose }: FoundProps) {
  const found = useQuery({
    ...question('GET /v1/data/paths', { query: { ...scope, rawTable } }),
    staleTime: 60_000,
  })
  return (
    <Asked of={found}>
      {({ records, paths }) => {
        const wanted = paths.find((each) => each.path === path)
        return (
          <div className="mapping">
            <PathList records={records} paths={paths} chosen={path} choose={choose} />
            {wanted ? (
              <FieldForm
                key={`${table} ${wanted.path}`}
                scope={scope}
                table={table}
                rawTable={rawTable}
                found={wanted}
              />
            ) : (
              <section className="card">
                <h2>No value chosen yet</h2>
                <p className="quiet" style={{ marginTop: 6 }}>
                  Click one on the left. Here you will name the field, and see what every row would get before anything
                  is saved.
                </p>
              </section>
            )}
          </div>
        )
      }}
    </Asked>
  )
}
