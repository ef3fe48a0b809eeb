import { ActionIcon, Button, SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { RemoteScope } from '../api/description.ts'
import type { Source } from '../api/sources.ts'
import { Asked } from '../parts/parts.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count } from '../parts/words.ts'
import { useScopes, useSource } from './asked.ts'
import { type Choice, HEIGHT } from './choice.ts'
import { ScopeMatches } from './scope-matches.tsx'
import { ScopeTree } from './scope-tree.tsx'

interface ScopePickerProps {
  readonly plugin: string
  readonly connectionId: number
  readonly chosen: readonly RemoteScope[]
  readonly onChange: (chosen: readonly RemoteScope[]) => void
  /** Scopes that the connection already has cannot be chosen. */
  readonly onlyNew?: boolean
}

/** Chooses scopes that the source offers: from its tree, by search, by pasted names, or by a pattern. */
export function ScopePicker({ plugin, connectionId, chosen, onChange, onlyNew = false }: ScopePickerProps) {
  const { sources, source } = useSource(plugin)
  const scopes = useScopes(plugin, connectionId)
  const [way, setWay] = useState('browse')
  const [pasted, setPasted] = useState('')
  const known = useMemo(() => new Set((scopes.data ?? []).map(({ id }) => id)), [scopes.data])
  const ids = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen])
  const isFixed = (id: string) => onlyNew && known.has(id)
  const choiceOf = (own: Source): Choice => ({
    source: own,
    connectionId,
    known,
    isChosen: (id) => ids.has(id),
    isFixed,
    add(added) {
      const fresh = new Map(added.filter(({ id }) => !ids.has(id) && !isFixed(id)).map((scope) => [scope.id, scope]))
      onChange([...chosen, ...fresh.values()])
    },
    remove(removed) {
      const gone = new Set(removed)
      onChange(chosen.filter(({ id }) => !gone.has(id)))
    },
  })
  return (
    <Asked of={sources}>
      {() =>
        source ? (
          <div className="picker">
            <div style={{ minWidth: 0 }}>
              <SegmentedControl
                aria-label="How to choose"
                data={[
                  { value: 'browse', label: 'Browse' },
                  { value: 'match', label: 'By name or pattern' },
                ]}
                value={way}
                onChange={setWay}
                style={{ marginBottom: 12 }}
              />
              {way === 'browse' ? (
                <ScopeTree
                  choice={choiceOf(source)}
                  onPaste={(text) => {
                    setPasted(text)
                    setWay('match')
                  }}
                />
              ) : (
                <ScopeMatches choice={choiceOf(source)} pasted={pasted} />
              )}
            </div>
            <Chosen chosen={chosen} onChange={onChange} title={source.scope.title.toLowerCase()} />
          </div>
        ) : (
          <p className="bad">There is no source called {plugin}.</p>
        )
      }
    </Asked>
  )
}

interface ChosenProps {
  readonly chosen: readonly RemoteScope[]
  readonly onChange: (chosen: readonly RemoteScope[]) => void
  readonly title: string
}

function Chosen({ chosen, onChange, title }: ChosenProps) {
  return (
    <section className="chosen" aria-label="Chosen">
      <div className="row" style={{ minHeight: 32, alignItems: 'center' }}>
        <h2 aria-live="polite">{chosen.length === 0 ? 'Nothing chosen' : `${count(chosen.length)} chosen`}</h2>
        {chosen.length > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={() => onChange([])}>
            Clear
          </Button>
        )}
      </div>
      {chosen.length === 0 ? (
        <p className="small quiet">Each {title} that you tick appears here.</p>
      ) : (
        <VirtualList items={chosen} keyOf={({ id }) => id} label="Chosen ones" rowHeight={32} height={HEIGHT}>
          {(scope) => (
            <div className="line">
              <span className="cut" style={{ flex: 1 }} title={scope.fullName}>
                {scope.fullName}
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={`Take out ${scope.fullName}`}
                onClick={() => onChange(chosen.filter(({ id }) => id !== scope.id))}
              >
                ×
              </ActionIcon>
            </div>
          )}
        </VirtualList>
      )}
    </section>
  )
}
