import { ask } from '../api/ask.ts'
import type { Blueprint } from '../api/description.ts'
import { refresh } from '../api/queries.ts'
import { useSave } from '../parts/conflict.tsx'

export const refreshBlueprints = () =>
  refresh(
    'GET /blueprints',
    'GET /blueprints/{id}',
    'GET /projects/{projectName}',
    'GET /projects',
    'GET /v1/blueprints/{id}/plan',
  )

const LABELS = {
  name: 'Name',
  connections: 'Connections and scopes',
  plan: 'Plan',
  timeAfter: 'Start date',
  isManual: 'Only by hand',
  cronConfig: 'Schedule',
  skipOnFail: 'Continue after a failure',
  enable: 'Switched on',
}

/** Saves changes of a blueprint unless somebody else has changed it meanwhile. Then `conflict` lets the user choose. */
export const useSaveBlueprint = (
  onSaved: (saved: Blueprint) => void,
  onTheirs: (current: Blueprint, kept: Readonly<Record<string, unknown>>) => void,
) =>
  useSave<Blueprint>({
    labels: LABELS,
    show: (name, value) => (name === 'connections' ? connectionWords(value) : undefined) ?? plainly(value),
    send: (changes, header) => {
      const { updatedAt: _, ...rest } = changes
      return ask('PATCH /blueprints/{id}', {
        path: { id: Number(rest.id) },
        header,
        body: Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'id')),
      }) as Promise<Blueprint>
    },
    onSaved: (saved) => {
      void refreshBlueprints()
      onSaved(saved)
    },
    onTheirs: (current, kept) => {
      void refreshBlueprints()
      onTheirs(current, kept)
    },
  })

function connectionWords(value: unknown): string {
  const connections = value as Blueprint['connections']
  if (connections.length === 0) return 'nothing'
  return connections
    .map(({ pluginName, connectionId, scopes }) => `${pluginName} ${connectionId}: ${scopes.length}`)
    .join(', ')
}

const plainly = (value: unknown): string =>
  value === null || value === ''
    ? 'nothing'
    : typeof value === 'boolean'
      ? value
        ? 'yes'
        : 'no'
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
