import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { FollowedRecord } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'
import { JsonTree } from './json-tree.tsx'
import { Cell } from './row-table.tsx'
import type { WholePlace } from './scope-select.tsx'
import { shortName, useView } from './view.ts'

interface RecordDrawerProps {
  readonly scope: WholePlace
  readonly record: string | undefined
}

/** Shows one record from the source to the domain layer. */
export function RecordDrawer({ scope, record }: RecordDrawerProps) {
  const change = useView()
  const [table = '', id = ''] = record?.split(':') ?? []
  const isNamed = table !== '' && /^\d{1,15}$/.test(id)
  return (
    <Drawer
      opened={record !== undefined}
      onClose={() => change({ record: undefined })}
      position="right"
      size="min(760px, 100vw)"
      title={`Record ${id} of ${shortName(table)}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isNamed ? (
        <Followed scope={scope} table={table} id={Number(id)} />
      ) : (
        <p className="quiet">The address names no record: close this, and choose a row.</p>
      )}
    </Drawer>
  )
}

export function Followed({
  scope,
  table,
  id,
}: {
  readonly scope: WholePlace
  readonly table: string
  readonly id: number
}) {
  const asked = useQuery(question('GET /v1/data/record', { query: { ...scope, table, id } }))
  return <Asked of={asked}>{(data) => <Record record={data} />}</Asked>
}

function Record({ record: { raw, made } }: { readonly record: FollowedRecord }) {
  const ofLayer = (layer: string) => made.filter((each) => each.layer === layer)
  return (
    <div className="followed">
      <Part title="As sent" says={<Sent raw={raw} />}>
        {raw.text === null ? (
          <JsonTree value={raw.data} />
        ) : (
          <>
            <p className="small quiet">
              {raw.bytes > raw.text.length
                ? `It has ${count(raw.bytes)} bytes; this is how it begins.`
                : 'It is no JSON, so nothing could be made of it.'}
            </p>
            <pre className="raw">{raw.text}</pre>
          </>
        )}
      </Part>
      <Part title="Tool" says={madeWords(ofLayer('tool'))}>
        {ofLayer('tool').map((each) => (
          <Made key={each.table} made={each} />
        ))}
      </Part>
      <Part title="Domain" says={madeWords(ofLayer('domain'))}>
        {ofLayer('domain').map((each) => (
          <Made key={each.table} made={each} />
        ))}
      </Part>
    </div>
  )
}

function Sent({ raw }: { readonly raw: FollowedRecord['raw'] }) {
  return (
    <>
      Came <Moment at={raw.createdAt} />
      {raw.url && (
        <>
          {' from '}
          <span className="mono address">{raw.url}</span>
        </>
      )}
    </>
  )
}

type MadeRows = FollowedRecord['made'][number]
const madeWords = (made: readonly MadeRows[]) =>
  made.length === 0
    ? 'Nothing was made of it here: a rule may leave it out, or it waits to be read.'
    : `${counted(
        made.reduce((sum, { rows }) => sum + rows.length, 0),
        'row',
      )} in ${counted(made.length, 'table')}`

interface PartProps {
  readonly title: string
  readonly says: ReactNode
  readonly children: ReactNode
}

export const Part = ({ title, says, children }: PartProps) => (
  <section className="part" aria-label={title}>
    <h2>{title}</h2>
    <p className="small quiet">{says}</p>
    {children}
  </section>
)

/** Names and values of the rows made from the record, without empty ones. */
export function Made({ made: { table, columns, rows } }: { readonly made: MadeRows }) {
  return (
    <>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows stand as they are
        <details key={index} open={index === 0} className="made">
          <summary className="mono">{table}</summary>
          <dl>
            {columns
              .filter(
                ({ name }) => !name.startsWith('_raw_data_') && row.cells[name] !== null && row.cells[name] !== '',
              )
              .map(({ name, kind }) => (
                <div key={name}>
                  <dt className="mono quiet">{name}</dt>
                  <dd>
                    <Cell value={row.cells[name]} kind={kind} />
                  </dd>
                </div>
              ))}
          </dl>
        </details>
      ))}
    </>
  )
}
