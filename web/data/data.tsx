import { Button, Pagination, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { StoredTable } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'
import './data.css'
import type { TablesView } from './address.ts'
import { RecordDrawer } from './record.tsx'
import { RowTable } from './row-table.tsx'
import { ScopeSelect, type WholePlace, wholePlace } from './scope-select.tsx'
import { shortName, useView } from './view.ts'

const place = getRouteApi('/data')
const PAGE = 50
const TYPED_MS = 300

export function DataPage() {
  const view = place.useSearch()
  const change = useView()
  const scope = wholePlace(view)
  return (
    <Page
      title="Data"
      says="What was collected, layer by layer: as the source sent it, as its tool knows it, and in the words that all tools share."
      actions={
        <Button variant="default" renderRoot={(props) => <Link to="/data/fields" {...props} />}>
          Custom fields
        </Button>
      }
    >
      <div className="scope-choice">
        <ScopeSelect
          place={view}
          onChange={(chosen) =>
            change({
              scopeId: undefined,
              table: undefined,
              words: undefined,
              page: undefined,
              ...chosen,
            })
          }
        />
      </div>
      {scope ? (
        <Layers key={JSON.stringify(scope)} scope={scope} view={view} />
      ) : (
        <Empty title="Choose a scope to look into" action={<Link to="/sources">Show sources</Link>}>
          A scope is a repository, a board or a project of a connection. You will see its tables with their rows, and
          can follow one record from the source to the numbers that it counts in.
        </Empty>
      )}
    </Page>
  )
}

const LAYERS = [
  { layer: 'raw', title: 'As sent', says: 'Records as the source sent them.' },
  { layer: 'tool', title: 'Tool', says: 'Typed, in the words of the tool.' },
  { layer: 'domain', title: 'Domain', says: 'In the words that all tools share.' },
] as const

function Layers({ scope, view }: { readonly scope: WholePlace; readonly view: TablesView }) {
  const tables = useQuery(question('GET /v1/data/tables', { query: scope }))
  return (
    <Asked of={tables}>
      {({ tables: all }) =>
        all.length === 0 ? (
          <Empty title="Nothing was collected for it yet" action={<Link to="/runs">Show runs</Link>}>
            Its rows will be here after its first run.
          </Empty>
        ) : (
          <div className="layers">
            <nav className="card tables" aria-label="Tables">
              {LAYERS.map(({ layer, title, says }) => (
                <LayerTables
                  key={layer}
                  title={title}
                  says={says}
                  tables={all.filter((table) => table.layer === layer)}
                  chosen={chosenOf(all, view)?.name}
                />
              ))}
            </nav>
            <Rows key={chosenOf(all, view)?.name} scope={scope} table={chosenOf(all, view)} view={view} />
            <RecordDrawer scope={scope} record={view.record} />
          </div>
        )
      }
    </Asked>
  )
}

const chosenOf = (tables: readonly StoredTable[], { table }: TablesView) =>
  tables.find(({ name }) => name === table) ?? tables.find(({ layer }) => layer === 'domain') ?? tables[0]

interface LayerTablesProps {
  readonly title: string
  readonly says: string
  readonly tables: readonly StoredTable[]
  readonly chosen: string | undefined
}

function LayerTables({ title, says, tables, chosen }: LayerTablesProps) {
  return (
    <section>
      <h2 className="layer" title={says}>
        {title}
      </h2>
      {tables.length === 0 && <p className="small faint none">nothing</p>}
      {tables.map(({ name, count: rows, isMore }) => (
        <Link
          key={name}
          from="/data"
          to="/data"
          search={({ words: _words, page: _page, record: _record, ...before }) => ({ ...before, table: name })}
          className="table-line"
          aria-current={name === chosen}
          title={name}
        >
          <span className="cut">{shortName(name)}</span>
          <span className="small quiet number">{`${count(rows)}${isMore ? '+' : ''}`}</span>
        </Link>
      ))}
    </section>
  )
}

interface RowsProps {
  readonly scope: WholePlace
  readonly table: StoredTable | undefined
  readonly view: TablesView
}

function Rows({ scope, table, view: { words, page = 1 } }: RowsProps) {
  const change = useView()
  const search = useDebouncedCallback(
    (typed: string) => change({ words: typed.trim() || undefined, page: undefined }),
    TYPED_MS,
  )
  const rows = useQuery({
    ...question('GET /v1/data/rows', {
      query: {
        ...scope,
        table: table?.name ?? '',
        page,
        pageSize: PAGE,
        ...(words !== undefined && { search: words }),
      },
    }),
    enabled: table !== undefined,
    placeholderData: (before) => before,
  })
  if (!table) return null
  return (
    <section className="card rows">
      <div className="row" style={{ alignItems: 'center', flexWrap: 'wrap' }}>
        <h2 className="mono cut" title={table.name}>
          {table.name}
        </h2>
        <TextInput
          size="xs"
          aria-label="Find rows"
          placeholder={table.layer === 'raw' ? 'Key or address' : 'Any text'}
          defaultValue={words ?? ''}
          maxLength={200}
          onChange={({ currentTarget }) => search(currentTarget.value)}
        />
      </div>
      <Asked of={rows}>
        {(data) =>
          data.rows.length === 0 ? (
            <Empty title={words ? `No row has “${words}”` : 'No more rows'}>
              {words
                ? 'All texts of a row are looked through. Try a shorter part of it.'
                : 'They may have been deleted meanwhile.'}
            </Empty>
          ) : (
            <>
              <p className="small quiet number" style={{ margin: '4px 0 12px' }}>
                {data.isMore ? `The first ${count(data.count)} rows` : counted(data.count, 'row')}
                {table.layer === 'raw' && ', newest first'}. Choose one to follow it through the layers.
              </p>
              <RowTable data={data} layer={table.layer} open={(record) => change({ record }, false)} />
              <div className="pages">
                <span />
                {data.count > PAGE && (
                  <Pagination
                    size="sm"
                    total={Math.ceil(data.count / PAGE)}
                    value={page}
                    onChange={(next) => change({ page: next })}
                    getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                  />
                )}
              </div>
            </>
          )
        }
      </Asked>
    </section>
  )
}
