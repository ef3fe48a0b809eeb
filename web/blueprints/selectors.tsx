import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Given } from '../api/ask.ts'
import type { Blueprint, Selector } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'
import { refreshConnections } from '../sources/asked.ts'
import { configsQuestion, type RuleConfig } from '../sources/rules/asked.ts'
import { refreshBlueprints } from './save.ts'
import { Matches, useSelectorMatches } from './selector-matches.tsx'

type NewSelector = Given<'POST /v1/blueprints/{id}/selectors'>['body']

interface SelectorsProps {
  readonly blueprint: Blueprint
  /** Ticked scopes are not saved yet. Scopes that a selector adds meanwhile would be lost when they are saved. */
  readonly isUnsaved: boolean
  readonly onAdd: () => void
}

export const refreshSelectors = (plugin: string) =>
  Promise.all([refresh('GET /v1/blueprints/{id}/selectors'), refreshBlueprints(), refreshConnections()])

/** Rules by which repositories and boards are added automatically. */
export function Selectors({ blueprint, isUnsaved, onAdd }: SelectorsProps) {
  const isAdmin = useMay('admin')
  const selectors = useQuery(question('GET /v1/blueprints/{id}/selectors', { path: { id: blueprint.id } }))
  return (
    <section className="card" aria-label="What is added automatically">
      <div className="row" style={{ marginBottom: 4 }}>
        <h2>What is added automatically</h2>
        {isAdmin && (
          <Button variant="default" size="xs" disabled={isUnsaved} onClick={onAdd}>
            Add a selector
          </Button>
        )}
      </div>
      <p className="small quiet" style={{ marginBottom: 12 }}>
        A selector such as <code className="mono">acme/*</code> is asked before every run: what has come to match it
        joins. What you take out above joins again as long as a selector matches it.
      </p>
      {isAdmin && isUnsaved && (
        <p className="small quiet" style={{ marginBottom: 12 }}>
          Save what you changed above first: what a new selector chooses joins at once.
        </p>
      )}
      <Asked of={selectors} lines={2}>
        {({ selectors: all }) =>
          all.length === 0 ? (
            <p className="quiet">None yet: only what is ticked above is collected.</p>
          ) : (
            <div className="lines">
              {all.map((selector) => (
                <Row key={selector.id} blueprint={blueprint} selector={selector} isAdmin={isAdmin} />
              ))}
            </div>
          )
        }
      </Asked>
    </section>
  )
}

interface RowProps {
  readonly blueprint: Blueprint
  readonly selector: Selector
  readonly isAdmin: boolean
}

const SOME = 5
const nameOf = (scope: Selector['scopes'][number]): string =>
  typeof scope === 'string' ? scope : String(scope.fullName ?? scope.name ?? Object.values(scope)[0])
const some = (names: readonly string[]) =>
  names.slice(0, SOME).join(', ') + (names.length > SOME ? ` and ${count(names.length - SOME)} more` : '')

function Row({ blueprint, selector, isAdmin }: RowProps) {
  const { plugin, connectionId, except, archived, topic, scopeConfigId } = selector
  const [isOpen, setOpen] = useState(false)
  const connections = useQuery(question('GET /v1/connections'))
  const configs = useQuery({ ...configsQuestion(plugin, connectionId), enabled: scopeConfigId !== null })
  const connection = connections.data?.find((each) => each.plugin === plugin && each.id === connectionId)
  const config = (configs.data as readonly RuleConfig[] | undefined)?.find(({ id }) => id === scopeConfigId)
  const remove = useMutation({
    mutationFn: () => removeSelector(blueprint.id, selector),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It is still there', message }),
  })
  const names = some(selector.scopes.map(nameOf))
  const patterns = selector.scopes.filter((each) => typeof each === 'string')
  const details = [
    connection ? `from ${connection.name}` : `from ${plugin} ${connectionId}`,
    ...(except.length > 0 ? [`without ${some(except)}`] : []),
    ...(topic ? [`with the topic ${topic}`] : []),
    ...(archived ? ['archived ones too'] : []),
    ...(config ? [`rules ${config.name}`] : []),
  ]
  return (
    <div style={{ padding: '10px 0' }}>
      <div className="row" style={{ alignItems: 'center', flexWrap: 'wrap' }}>
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <bdi className="mono">{names}</bdi>
          <div className="small quiet">
            <bdi>{details.join(', ')}</bdi>
          </div>
        </div>
        {isAdmin && (
          <span className="actions">
            {patterns.length > 0 && (
              <Button
                variant="default"
                size="compact-sm"
                aria-expanded={isOpen}
                aria-label={`${isOpen ? 'Hide' : 'What matches now'}: ${names}`}
                onClick={() => setOpen(!isOpen)}
              >
                {isOpen ? 'Hide' : 'What matches now'}
              </Button>
            )}
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={`Delete ${names}`}
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              Delete
            </Button>
          </span>
        )}
      </div>
      {isOpen && <Now blueprint={blueprint} selector={selector} patterns={patterns} />}
    </div>
  )
}

interface NowProps {
  readonly blueprint: Blueprint
  readonly selector: Selector
  readonly patterns: readonly string[]
}

function Now({ blueprint, selector: { plugin, connectionId, except, archived, topic }, patterns }: NowProps) {
  const matches = useSelectorMatches({ plugin, connectionId, scopes: patterns, except, archived, topic: topic ?? '' })
  return (
    <div style={{ paddingTop: 8 }}>
      <Asked of={matches} lines={2}>
        {(found) => <Matches found={found} blueprint={blueprint} plugin={plugin} connectionId={connectionId} />}
      </Asked>
    </div>
  )
}

/** Scopes that the selector has added stay, so that the deletion can be undone. */
async function removeSelector(blueprintId: number, selector: Selector): Promise<void> {
  const { id: selectorId, ...rest } = selector
  const body = { ...rest, scopes: rest.scopes as NewSelector['scopes'], allowEmpty: true }
  await ask('DELETE /v1/blueprints/{id}/selectors/{selectorId}', { path: { id: blueprintId, selectorId } })
  await refreshSelectors(selector.plugin)
  const undo = async () => {
    notifications.hide(notice)
    try {
      // The selector existed before, so it does not matter whether it matches anything now.
      await ask('POST /v1/blueprints/{id}/selectors', { path: { id: blueprintId }, body })
    } catch (error) {
      notifications.show({ color: 'red', title: 'It was not brought back', message: (error as Error).message })
    }
    await refreshSelectors(selector.plugin)
  }
  const notice: string = notifications.show({
    autoClose: 15_000,
    title: `${some(selector.scopes.map(nameOf))} is deleted`,
    message: (
      <span className="row" style={{ alignItems: 'center' }}>
        <span>The scopes that it added stay in the project. It adds no new ones.</span>
        <Button variant="default" size="xs" onClick={() => void undo()}>
          Undo
        </Button>
      </span>
    ),
  })
}
