import { Band, Moment } from '../parts/parts.tsx'
import { exactText, isNumeric, numberOf, textOf } from './cells.ts'
import type { Column, PanelRows } from './view.ts'

const MOST_ROWS = 500
const BANDS = ['low', 'medium', 'high', 'elite'] as const
type BandName = (typeof BANDS)[number]

/** Rows with their links. */
export function RowTable({
  rows: { columns, rows, isCut },
  label,
}: {
  readonly rows: PanelRows
  readonly label: string
}) {
  const links = columns.flatMap(({ link }) => link ?? [])
  const visible = columns
    .map((column, index) => ({ column, index }))
    .filter(({ column }) => !links.includes(column.name))
  const first = rows.slice(0, MOST_ROWS)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
    <section className="panel-table" aria-label={label} tabIndex={0}>
      <table className="plain">
        <thead>
          <tr>
            {visible.map(({ column }) => (
              <th key={column.name} className={isNumeric(column) ? 'right' : undefined}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name, and are replaced as a whole
            <tr key={place}>
              {visible.map(({ column, index }) => (
                <td key={column.name} className={isNumeric(column) ? 'right' : undefined}>
                  <Cell column={column} value={row[index]} address={addressOf(columns, column, row)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {(isCut || rows.length > MOST_ROWS) && (
        <p className="small quiet" style={{ padding: '8px 0' }}>
          The first {MOST_ROWS} rows. Narrow the range, or take the CSV file for more.
        </p>
      )}
    </section>
  )
}

function addressOf(columns: readonly Column[], { link }: Column, row: readonly unknown[]): string {
  const place = columns.findIndex(({ name }) => name === link)
  return place < 0 ? '' : String(row[place] ?? '')
}

/** Only addresses of pages become links: tools may have written anything there. */
const isAddress = (text: string) => /^(https?:\/\/|\/)/i.test(text)

function Cell({
  column: { name, kind },
  value,
  address,
}: {
  readonly column: Column
  readonly value: unknown
  readonly address: string
}) {
  if (value === null || value === undefined || value === '') return <span className="faint">–</span>
  if (kind === 'moment') return <Moment at={String(value)} />
  if (name === 'band' && BANDS.includes(value as BandName)) return <Band band={value as BandName} />
  const words = textOf(value, kind)
  const own = kind === 'address' ? words : address
  const title = numberOf(value) === null ? words : exactText(value, kind)
  if (!isAddress(own)) return <bdi title={title}>{words}</bdi>
  return own.startsWith('/') ? (
    <a href={own}>
      <bdi>{words}</bdi>
    </a>
  ) : (
    <a href={own} target="_blank" rel="noreferrer">
      <bdi>{words}</bdi>
    </a>
  )
}
