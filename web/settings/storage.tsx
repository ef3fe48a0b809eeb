import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { bytes, short } from '../parts/amounts.ts'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { CardTable, right, Table } from '../parts/table.tsx'
import { SettingsPage } from './settings-page.tsx'

const place = getRouteApi('/settings/storage')
type Storage = AnswerTo<'GET /v1/storage'>

export function StoragePage() {
  const { by } = place.useSearch()
  const navigate = place.useNavigate()
  const storage = useQuery({ ...question('GET /v1/storage'), staleTime: 60_000 })
  return (
    <SettingsPage
      title="Storage"
      says={
        storage.data ? (
          <>
            The database holds {bytes(storage.data.bytes)}. Counted <Moment at={storage.data.countedAt} />.
          </>
        ) : (
          'What fills the database.'
        )
      }
      actions={
        <SegmentedControl
          aria-label="Show storage by"
          data={[
            { value: 'table', label: 'By table' },
            { value: 'scope', label: 'By scope' },
          ]}
          value={by ?? 'table'}
          onChange={(value) => void navigate({ search: value === 'scope' ? { by: 'scope' } : {} })}
        />
      }
    >
      <Asked of={storage}>
        {(data) =>
          by === 'scope' ? (
            <Scopes storage={data} />
          ) : (
            <>
              <Layers storage={data} />
              <Tables storage={data} />
            </>
          )
        }
      </Asked>
    </SettingsPage>
  )
}

/** Descriptions of the data layers. */
const LAYERS: Readonly<Record<Storage['layers'][number]['layer'], string>> = {
  raw: 'as the tools sent it',
  tool: 'typed, by tool',
  domain: 'domain',
  system: 'settings and runs',
  other: 'not of Weir',
}

const Weight = ({ part, whole }: { readonly part: number; readonly whole: number }) => (
  <div className="weight" style={{ width: `${whole === 0 ? 0 : (100 * part) / whole}%` }} aria-hidden="true" />
)

function Layers({ storage: { layers, bytes: all } }: { readonly storage: Storage }) {
  return (
    <div className="card scroll" style={{ marginBottom: 16 }}>
      <Table
        heads={[
          'Layer',
          right('Tables'),
          right('Size'),
          { className: 'hidden-on-phone', style: { width: '28%' }, 'aria-label': 'Share of the whole' },
        ]}
      >
        {layers.map(({ layer, bytes: size, tables }) => (
          <tr key={layer}>
            <td>{LAYERS[layer]}</td>
            <td className="right">{tables}</td>
            <td className="right" style={{ whiteSpace: 'nowrap' }}>
              {bytes(size)}
            </td>
            <td className="hidden-on-phone" style={{ verticalAlign: 'middle' }}>
              <Weight part={size} whole={all} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

function Tables({ storage: { tables } }: { readonly storage: Storage }) {
  const largest = tables[0]?.bytes ?? 0
  return (
    <CardTable
      heads={[
        'Table',
        { title: 'Layer', className: 'hidden-on-phone' },
        right('Rows, about'),
        right('Size'),
        { className: 'hidden-on-phone', style: { width: '28%' }, 'aria-label': 'Compared with the largest' },
      ]}
    >
      {tables.map(({ name, layer, bytes: size, records }) => (
        <tr key={name}>
          <td className="mono">{name}</td>
          <td className="quiet hidden-on-phone">{LAYERS[layer]}</td>
          <td className="right" title={String(records)}>
            {short(records)}
          </td>
          <td className="right" style={{ whiteSpace: 'nowrap' }}>
            {bytes(size)}
          </td>
          <td className="hidden-on-phone" style={{ verticalAlign: 'middle' }}>
            <Weight part={size} whole={largest} />
          </td>
        </tr>
      ))}
    </CardTable>
  )
}

function Scopes({ storage: { scopes, uncounted } }: { readonly storage: Storage }) {
  if (scopes.length === 0)
    return (
      <Empty title="Nothing was collected yet">
        After the first run this shows which repositories, boards and jobs take how much room.
      </Empty>
    )
  const largest = scopes[0]?.bytes ?? 0
  return (
    <>
      {uncounted.length > 0 && (
        <div className="notice">
          <span>
            Too large to be counted by scope: <span className="mono">{uncounted.join(', ')}</span>.
          </span>
        </div>
      )}
      <CardTable
        heads={[
          'Scope',
          'Source',
          right('Raw records'),
          right('Size, about'),
          { className: 'hidden-on-phone', style: { width: '28%' }, 'aria-label': 'Compared with the largest' },
        ]}
      >
        {scopes.map(({ plugin, connectionId, scopeId, scopeName, records, bytes: size }) => (
          <tr key={`${plugin} ${connectionId} ${scopeId}`}>
            <td className="cut" style={{ maxWidth: 320, fontWeight: 500 }} title={scopeName}>
              {scopeName}
            </td>
            <td className="quiet">
              {plugin}, connection {connectionId}
            </td>
            <td className="right" title={String(records)}>
              {short(records)}
            </td>
            <td className="right" style={{ whiteSpace: 'nowrap' }}>
              {bytes(size)}
            </td>
            <td style={{ verticalAlign: 'middle' }}>
              <Weight part={size} whole={largest} />
            </td>
          </tr>
        ))}
      </CardTable>
    </>
  )
}
