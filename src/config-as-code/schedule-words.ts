/** Writes changes of a schedule for people: names instead of ids, and the scopes that join or leave a project. */
import { PLAN_FIELDS } from '../control-plane/plan/stored-plans.ts'
import type { BlueprintConnection } from '../control-plane/records.ts'
import type { Services } from '../control-plane/services.ts'
import { sourceNamed } from '../control-plane/sources.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import type { ChangedField, State } from './change.ts'
import { type ConnectionNames, planForFile } from './portable-plans.ts'
import { idOfScope, scopesOf } from './stored-scopes.ts'
import type { ConnectionSelectors } from './stored-selectors.ts'

const byText = (left: unknown, right: unknown) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)
/** Sorts connections, whatever the order in which they are stored. */
const inOrder = (connections: readonly BlueprintConnection[]) =>
  connections
    .map(({ pluginName, connectionId, scopes }) => ({
      pluginName,
      connectionId,
      scopes: scopes.map(({ scopeId }) => scopeId).sort(),
    }))
    .sort(byText)
type Collected = ReturnType<typeof inOrder>

/** Connections that receive pushed data have no scopes, so they are counted separately. */
export const inParts = (connections: readonly BlueprintConnection[]) => ({
  scopes: inOrder(connections.filter(({ scopes }) => scopes.length > 0)),
  connectionsWithoutScopes: inOrder(connections.filter(({ scopes }) => scopes.length === 0)),
})
const collectedBy = (state: State | undefined) =>
  [state?.scopes, state?.connectionsWithoutScopes].flatMap((part) => (part ?? []) as Collected)

export const bySource = (selectors: readonly ConnectionSelectors[]) =>
  selectors.map(({ plugin, connectionId, selectors: rules }) => ({ plugin, connectionId, rules })).sort(byText)
type Rules = ReturnType<typeof bySource>

interface Naming {
  readonly services: Services
  readonly names: ConnectionNames
}

/** Returns `plugin/name`, or undefined if the connection was deleted. */
const referenceOf = ({ names }: Naming, plugin: string, id: number) => names.references.get(`${plugin} ${id}`)

/** Reads the names of scope configs of every connection to which a selector refers, even if the file does not contain it. */
export async function scheduleWords(
  naming: Naming,
  selectors: readonly ConnectionSelectors[],
): Promise<(field: ChangedField) => ChangedField> {
  const configNames = new Map<string, string>()
  for (const { plugin, connectionId } of selectors) {
    if (!referenceOf(naming, plugin, connectionId)) continue
    for (const { id, name } of await naming.services.scopeConfigs.list(plugin, connectionId)) {
      configNames.set(`${plugin} ${connectionId} ${id}`, name)
    }
  }
  const rulesOf = (all: unknown) =>
    ((all ?? []) as Rules).flatMap(({ plugin, connectionId, rules }) =>
      rules.map(({ scopeConfigId, ...rule }) => {
        const scopeConfig = configNames.get(`${plugin} ${connectionId} ${scopeConfigId}`)
        const connection = referenceOf(naming, plugin, connectionId) ?? plugin
        return { connection, ...rule, ...(scopeConfig !== undefined && { scopeConfig }) }
      }),
    )
  const planOf = (plan: unknown) => plan && planForFile(plan as Plan, naming.names)
  const words = new Map<string, (value: unknown) => unknown>([
    ['scopes', countOf],
    ['connectionsWithoutScopes', (all) => ((all ?? []) as Collected).length],
    ['selectors', rulesOf],
    ...PLAN_FIELDS.map((field) => [field, planOf] as const),
  ])
  return ({ name, before, after }) => {
    const told = words.get(name) ?? ((value: unknown) => value)
    return { name, before: told(before), after: told(after) }
  }
}

const countOf = (all: unknown) => ((all ?? []) as Collected).reduce((sum, { scopes }) => sum + scopes.length, 0)

const MOST_NAMED = 20

/** Lists the scopes, and the connections without scopes, that come and go. The number of scopes alone would not show that. */
export async function comingAndGoing(
  naming: Naming,
  project: string,
  before: State | undefined,
  after: State,
): Promise<string[]> {
  const [was, is] = [collectedBy(before), collectedBy(after)]
  const added = await namesOf(naming, lacking(is, was))
  const removed = await namesOf(naming, lacking(was, is))
  return [
    ...added.map((names) => `adds ${names} to project ${project}`),
    ...removed.map((names) => `removes ${names} from project ${project}`),
  ]
}

/** Returns the part of the first list that the second one lacks. */
function lacking(all: Collected, others: Collected): Collected {
  return all.flatMap((link) => {
    const other = others.find(
      ({ pluginName, connectionId }) => pluginName === link.pluginName && connectionId === link.connectionId,
    )
    if (!other) return [link]
    const known = new Set(other.scopes)
    const scopes = link.scopes.filter((id) => !known.has(id))
    return scopes.length > 0 ? [{ ...link, scopes }] : []
  })
}

const namesOf = (naming: Naming, links: Collected): Promise<string[]> =>
  Promise.all(
    links.map(async ({ pluginName, connectionId, scopes }) => {
      const reference = referenceOf(naming, pluginName, connectionId)
      if (!reference) return `a deleted ${pluginName} connection`
      if (scopes.length === 0) return reference
      const source = sourceNamed(naming.names.plugins, pluginName)
      const stored = await scopesOf(naming.services, pluginName, connectionId)
      const titles = new Map(
        stored.map((scope) => [idOfScope(source, scope), String(scope.fullName ?? scope.name ?? '')]),
      )
      const named = scopes.map((id) => titles.get(id) || id).sort()
      const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : ''
      return `${named.slice(0, MOST_NAMED).join(', ')}${more} of ${reference}`
    }),
  )
