import { Button, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { Source } from '../api/sources.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count, counted, plural } from '../parts/words.ts'
import { type ListedScope, useScopes } from './asked.ts'
import { RemoveScopes } from './remove-scopes.tsx'

interface ScopesCardProps {
  readonly source: Source
  readonly connectionId: number
  readonly words: string
  onWords(words: string): void
  onAdd(): void
}

/** The scopes that a connection collects, possibly thousands, each with its rules, last collection and projects. */
export function ScopesCard({ source, connectionId, words, onWords, onAdd }: ScopesCardProps) {
  const may = useMay('admin')
  const wanted = useDeferredValue(words)
  const scopes = useScopes(source.plugin, connectionId, wanted)
  const [ticked, setTicked] = useState<ReadonlyMap<string, ListedScope>>(new Map())
  const [removed, setRemoved] = useState<readonly ListedScope[]>()
  const what = source.scope.title.toLowerCase()

  const tick = (scope: ListedScope, isTicked: boolean) => {
    const next = new Map(ticked)
    if (isTicked) next.set(scope.id, scope)
    else next.delete(scope.id)
    setTicked(next)
  }
  return (
    <section className="card" aria-label={`${plural(source.scope.title)}`}>
      <div className="row" style={{ alignItems: 'center', flexWrap: 'wrap', marginBottom: 8 }}>
        <h2>
          {plural(source.scope.title)}
          {scopes.data && <span className="faint number"> {count(scopes.data.length)}</span>}
        </h2>
        <div className="actions">
          {Object.keys(source.scopeConfig).length > 0 && (
            <RulesLink plugin={source.plugin} connectionId={connectionId} />
          )}
          <TextInput
            placeholder={`Find a ${what}`}
            aria-label={`Find a ${what}`}
            value={words}
            onChange={({ currentTarget }) => onWords(currentTarget.value)}
          />
        </div>
      </div>
      <Asked of={scopes}>
        {(all) =>
          all.length === 0 ? (
            wanted ? (
              <p className="quiet" style={{ padding: '16px 0' }}>
                No {what} of this connection has “{wanted}” in its name.
              </p>
            ) : (
              <Empty
                title={`No ${what} is chosen yet`}
                action={
                  may && (
                    <Button variant="default" onClick={onAdd}>
                      Choose {plural(what)}
                    </Button>
                  )
                }
              >
                Choose what this connection collects. Projects then take from it what belongs to them.
              </Empty>
            )
          ) : (
            <>
              <div className="line scope-row heads small faint" aria-hidden>
                <span />
                <span>Name</span>
                <span>Rules</span>
                <span>Collected</span>
                <span>Projects</span>
              </div>
              <VirtualList
                items={all}
                keyOf={({ id }) => id}
                label={`${plural(source.scope.title)}`}
                height="min(60vh, 640px)"
              >
                {(scope) => (
                  <ScopeRow
                    scope={scope}
                    isTicked={ticked.has(scope.id)}
                    {...(may && { onTick: (isTicked: boolean) => tick(scope, isTicked) })}
                  />
                )}
              </VirtualList>
              {may && (
                <div className="row small quiet" style={{ alignItems: 'center', paddingTop: 12 }}>
                  <label className="line" style={{ padding: 0 }}>
                    <input
                      type="checkbox"
                      checked={ticked.size >= all.length && all.every(({ id }) => ticked.has(id))}
                      onChange={({ currentTarget }) =>
                        setTicked(currentTarget.checked ? new Map(all.map((each) => [each.id, each])) : new Map())
                      }
                    />
                    {ticked.size === 0 ? 'Tick all' : `${count(ticked.size)} ticked`}
                  </label>
                  <Button
                    variant="default"
                    size="xs"
                    disabled={ticked.size === 0}
                    onClick={() => setRemoved([...ticked.values()])}
                  >
                    Remove {ticked.size === 0 ? 'ticked ones' : counted(ticked.size, what)}
                  </Button>
                </div>
              )}
            </>
          )
        }
      </Asked>
      {removed && (
        <RemoveScopes
          source={source}
          connectionId={connectionId}
          scopes={removed}
          onClose={(isDone) => {
            setRemoved(undefined)
            if (isDone) setTicked(new Map())
          }}
        />
      )}
    </section>
  )
}

interface ScopeRowProps {
  readonly scope: ListedScope
  readonly isTicked: boolean
  readonly onTick?: (isTicked: boolean) => void
}

function ScopeRow({ scope: { name, scopeConfigName, collectedAt, usedBy }, isTicked, onTick }: ScopeRowProps) {
  return (
    <div className="line scope-row">
      {onTick ? (
        <input
          type="checkbox"
          aria-label={name}
          checked={isTicked}
          onChange={({ currentTarget }) => onTick(currentTarget.checked)}
        />
      ) : (
        <span />
      )}
      <bdi className="cut" title={name} style={{ fontWeight: 500 }}>
        {name}
      </bdi>
      <span className="cut small" title={scopeConfigName ?? undefined}>
        {scopeConfigName ?? <span className="faint">default rules</span>}
      </span>
      <span className="small quiet">
        <Moment at={collectedAt} />
      </span>
      <span className="cut small" title={usedBy.join(', ')}>
        {usedBy.length === 0 ? <span className="faint">in none</span> : usedBy.join(', ')}
      </span>
    </div>
  )
}

const RulesLink = ({ plugin, connectionId }: { readonly plugin: string; readonly connectionId: number }) => (
  <Link to="/sources/$plugin/$id/rules" params={{ plugin, id: String(connectionId) }}>
    Rules
  </Link>
)
