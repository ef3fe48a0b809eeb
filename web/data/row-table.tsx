import type { AnswerTo } from '../api/ask.ts'
import type { StoredRow } from '../api/description.ts'
import { exactly, when } from '../parts/words.ts'

type Rows = AnswerTo<'GET /v1/data/rows'>
type Column = Rows['columns'][number]

/** Columns about the origin of rows are shown only when a row is followed. */
const isOrigin = (name: string) => name.startsWith('_raw_data_') || name === 'created_at' || name === 'updated_at'
const isEmpty = (value: unknown) => value === null || value === ''

function shownColumns({ columns, rows }: Rows): readonly Column[] {
  const own = columns.filter(({ name }) => !isOrigin(name))
  const telling = own.filter(
    ({ name, isKey }) => isKey || name.startsWith('x_') || rows.some(({ cells }) => !isEmpty(cells[name])),
  )
  return telling.length > 0 ? telling : own
}

interface RowTableProps {
  readonly data: Rows
  readonly layer: string
  readonly open: (record: string) => void
}

export function RowTable({ data, layer, open }: RowTableProps) {
  const columns = layer === 'raw' ? data.columns : shownColumns(data)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
    <section className="wide" tabIndex={0} aria-label="Rows">
      <table className="plain dense">
        <thead>
          <tr>
            <th>
              <span className="unseen">Follow</span>
            </th>
            {columns.map(({ name }) => (
              <th key={name} className="mono">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.rows.map((row, index) => (
            <tr key={keyOf(data.columns, row, index)}>
              <td>
                <Follow row={row} open={open} />
              </td>
              {columns.map((column) => (
                <td key={column.name} className={column.kind === 'bigint' || column.kind === 'double' ? 'right' : ''}>
                  <Cell value={row.cells[column.name]} kind={column.kind} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const keyOf = (columns: readonly Column[], { cells }: StoredRow, index: number) =>
  columns
    .filter(({ isKey }) => isKey)
    .map(({ name }) => cells[name])
    .join(' ') || index

function Follow({ row: { record }, open }: { readonly row: StoredRow; readonly open: (record: string) => void }) {
  if (!record)
    return (
      <span className="faint" title="It was calculated, or came from a clone: there is no raw record of it.">
        –
      </span>
    )
  return (
    <button type="button" className="link" onClick={() => open(`${record.table}:${record.id}`)}>
      Follow
    </button>
  )
}

export function Cell({ value, kind }: { readonly value: unknown; readonly kind: string }) {
  if (isEmpty(value) || value === undefined) return <span className="faint">{value === '' ? '' : '–'}</span>
  if (kind === 'timestamp' && typeof value === 'string') {
    // The year 1 means that there is no time.
    if (value.startsWith('0001-')) return <span className="faint">–</span>
    return <time title={exactly(value)}>{when(value)}</time>
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return (
    <span className="cell" title={text} dir="auto">
      {text}
    </span>
  )
}
