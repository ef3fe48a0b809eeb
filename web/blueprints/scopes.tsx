import { Button, Checkbox, Menu, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { AnswerTo } from '../api/ask.ts'
import type { Blueprint } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { ButtonTo, LinkTo, pathOf } from '../parts/anywhere.tsx'
import { Asked, Empty } from '../parts/parts.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count } from '../parts/words.ts'
import { type ListedScope, useScopes } from '../sources/asked.ts'

type Chosen = Blueprint['connections']
type Connection = AnswerTo<'GET /v1/connections'>[number]

interface ScopePickerProps {
  readonly value: Chosen
  readonly onChange: (next: Chosen) => void
  readonly isDisabled: boolean
}

const isOf = (connection: Connection) => (each: Chosen[number]) =>
  each.pluginName === connection.plugin && each.connectionId === connection.id

/** Chooses the scopes of a project among those that its sources are set up to collect. */
export function ScopePicker({ value, onChange, isDisabled }: ScopePickerProps) {
  const connections = useQuery(question('GET /v1/connections'))
  return (
    <Asked of={connections}>
      {(all) => {
        const chosen = all.filter((connection) => value.some(isOf(connection)))
        const others = all.filter((connection) => !value.some(isOf(connection)))
        const gone = value.filter(
          (each) => each.pluginName !== 'webhook' && !all.some((connection) => isOf(connection)(each)),
        )
        if (all.length === 0)
          return (
            <Empty
              title="No source is connected yet"
              action={<ButtonTo at={{ path: '/sources' }}>Connect a source</ButtonTo>}
            >
              Connect where the code, the issues and the builds live; then choose here what belongs to this project.
            </Empty>
          )
        return (
          <div className="stack">
            {chosen.length === 0 && gone.length === 0 && (
              <p className="quiet">Nothing is chosen yet. Add the connection that has its repositories or boards.</p>
            )}
            {chosen.map((connection) => (
              <Scopes
                key={`${connection.plugin} ${connection.id}`}
                connection={connection}
                scopeIds={value.find(isOf(connection))?.scopes.map(({ scopeId }) => scopeId) ?? []}
                isDisabled={isDisabled}
                onChange={(ids) =>
                  onChange(
                    value.map((each) =>
                      isOf(connection)(each) ? { ...each, scopes: ids.map((scopeId) => ({ scopeId })) } : each,
                    ),
                  )
                }
                onRemove={() => onChange(value.filter((each) => !isOf(connection)(each)))}
              />
            ))}
            {gone.map((each) => (
              <div key={`${each.pluginName} ${each.connectionId}`} className="notice">
                <span>
                  Connection {each.connectionId} of {each.pluginName} was deleted. Its {each.scopes.length} scopes
                  cannot be collected any more.
                </span>
                <Button variant="default" onClick={() => onChange(value.filter((other) => other !== each))}>
                  Take it out
                </Button>
              </div>
            ))}
            {others.length > 0 && !isDisabled && (
              <Menu position="bottom-start">
                <Menu.Target>
                  <Button variant="default" style={{ justifySelf: 'start' }}>
                    Add a connection
                  </Button>
                </Menu.Target>
                <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
                  {others.map((connection) => (
                    <Menu.Item
                      key={`${connection.plugin} ${connection.id}`}
                      onClick={() =>
                        onChange([...value, { pluginName: connection.plugin, connectionId: connection.id, scopes: [] }])
                      }
                    >
                      {connection.name}
                      <span className="small faint">
                        {' '}
                        {connection.title} · {count(connection.scopes)} scopes
                      </span>
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
            )}
          </div>
        )
      }}
    </Asked>
  )
}

interface ScopesProps {
  readonly connection: Connection
  readonly scopeIds: readonly string[]
  readonly isDisabled: boolean
  readonly onChange: (scopeIds: readonly string[]) => void
  readonly onRemove: () => void
}

function Scopes({ connection: { plugin, id, name, title }, scopeIds, isDisabled, onChange, onRemove }: ScopesProps) {
  const scopes = useScopes(plugin, id)
  return (
    <section aria-label={`${title}, ${name}`}>
      <div className="row" style={{ marginBottom: 8 }}>
        <h3 className="cut" title={name}>
          {name} <span className="small faint">{title}</span>
        </h3>
        <span className="actions small">
          <LinkTo at={{ path: pathOf`/sources/${plugin}/${id}`, search: { add: true } }}>Add more from {title}</LinkTo>
          {!isDisabled && (
            <Button size="compact-sm" variant="subtle" onClick={onRemove}>
              Take out
            </Button>
          )}
        </span>
      </div>
      <Asked of={scopes} lines={3}>
        {(all) =>
          all.length === 0 && scopeIds.length === 0 ? (
            <p className="small quiet">
              This connection collects nothing yet.{' '}
              <LinkTo at={{ path: pathOf`/sources/${plugin}/${id}`, search: { add: true } }}>
                Choose what it collects
              </LinkTo>
            </p>
          ) : (
            <Choices all={all} scopeIds={scopeIds} isDisabled={isDisabled} onChange={onChange} />
          )
        }
      </Asked>
    </section>
  )
}

interface ChoicesProps {
  readonly all: readonly ListedScope[]
  readonly scopeIds: readonly string[]
  readonly isDisabled: boolean
  readonly onChange: (scopeIds: readonly string[]) => void
}

const LINE = 36

function Choices({ all, scopeIds, isDisabled, onChange }: ChoicesProps) {
  const [words, setWords] = useState('')
  const chosen = useMemo(() => new Set(scopeIds), [scopeIds])
  const known = useMemo(() => new Set(all.map(({ id }) => id)), [all])
  const rows = useMemo(() => {
    const lost = scopeIds.filter((id) => !known.has(id)).map((id) => ({ id, name: `${id} (deleted)` }))
    return [...lost, ...all].filter(({ name }) => name.toLowerCase().includes(words.trim().toLowerCase()))
  }, [all, known, scopeIds, words])
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id))
  const set = (ids: readonly string[], isChosen: boolean) => {
    const changed = new Set(ids)
    onChange(
      isChosen ? [...scopeIds, ...ids.filter((id) => !chosen.has(id))] : scopeIds.filter((id) => !changed.has(id)),
    )
  }
  return (
    <>
      <div className="row" style={{ alignItems: 'center', marginBottom: 8 }}>
        <Checkbox
          label={words ? `All that match (${count(rows.length)})` : 'All'}
          checked={isAll}
          indeterminate={!isAll && rows.some(({ id }) => chosen.has(id))}
          disabled={isDisabled || rows.length === 0}
          onChange={({ currentTarget }) =>
            set(
              rows.map(({ id }) => id),
              currentTarget.checked,
            )
          }
        />
        <span className="actions">
          <span className="small quiet number">
            {count(chosen.size)} of {count(all.length)} chosen
          </span>
          {all.length > 8 && (
            <TextInput
              size="xs"
              placeholder="Find"
              aria-label="Find a scope"
              value={words}
              onChange={({ currentTarget }) => setWords(currentTarget.value)}
            />
          )}
        </span>
      </div>
      <VirtualList items={rows} label="Scopes" keyOf={({ id }) => id} rowHeight={LINE} height={320}>
        {(row) => (
          <label className="line" title={row.name}>
            <input
              type="checkbox"
              checked={chosen.has(row.id)}
              disabled={isDisabled}
              onChange={({ currentTarget }) => set([row.id], currentTarget.checked)}
            />
            <bdi className="cut">{row.name}</bdi>
          </label>
        )}
      </VirtualList>
    </>
  )
}
