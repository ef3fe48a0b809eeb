import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { DomainRow } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import './data.css'
import { Followed, Made, Part } from './record.tsx'

const here = getRouteApi('/data/record')

/** Shows one row of the domain layer, such as an item of a metric, and the record that it was made from. */
export function RowPage() {
  const { table, id } = here.useSearch()
  return (
    <Page
      title={table === undefined ? 'A row' : `A row of ${table}`}
      says="What is stored of it, in the words that all tools share, and as the source sent it."
    >
      {table !== undefined && id !== undefined ? (
        <Found table={table} id={id} />
      ) : (
        <Empty title="The address names no row" action={<Link to="/data">Look at the data</Link>}>
          It needs a table and an id. Explain of any number leads to its rows.
        </Empty>
      )}
    </Page>
  )
}

function Found({ table, id }: { readonly table: string; readonly id: string }) {
  const row = useQuery(question('GET /v1/data/domain-row', { query: { table, id } }))
  return <Asked of={row}>{(data) => <Row data={data} />}</Asked>
}

function Row({ data: { table, meaning, columns, row, place } }: { readonly data: DomainRow }) {
  return (
    <div className="followed card">
      <Part
        title="Stored"
        says={
          <>
            {meaning}{' '}
            {place && (
              <Link to="/data" search={{ ...place, table }}>
                Show all rows of its scope
              </Link>
            )}
          </>
        }
      >
        <Made made={{ layer: 'domain', table, columns, rows: [row] }} />
      </Part>
      {place && row.record ? (
        <Followed scope={place} table={row.record.table} id={row.record.id} />
      ) : (
        <Part
          title="As sent"
          says={
            place
              ? 'It was calculated from other rows, or the record that it was made from is not stored any more.'
              : 'Nothing tells which scope it came from: it was calculated from other rows, or its connection was deleted.'
          }
        >
          {null}
        </Part>
      )}
    </div>
  )
}
