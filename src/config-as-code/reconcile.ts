/**
 * Makes the stored configuration the same as a file, completely or not at all. A plan does the same work in a transaction that is
 * rolled back, so it refuses everything that an apply would refuse.
 */

import type { Assumption } from '../control-plane/records.ts'
import { atOneMoment, inTrial } from '../control-plane/store.ts'
import { retrying } from '../database/write.ts'
import { matchPattern } from '../plugin-kit/spec/patterns.ts'
import { askSources, type Chosen } from './ask-sources.ts'
import type { ConfigChange } from './change.ts'
import type { ConfigContext, Match, Reconciling } from './context.ts'
import type { Config } from './document.ts'
import { missingFields, type NewField, reconcileFields, withNewFields } from './own-fields.ts'
import { connectionNames } from './portable-plans.ts'
import { type KnownConnection, reconcileConnection, storedConnection } from './reconcile-connection.ts'
import { reconcileGroups, reconcilePersonalViews, reconcileTargets } from './reconcile-groups.ts'
import { reconcileProject } from './reconcile-project.ts'
import { configsGiven } from './reconcile-scopes.ts'
import { readTemplates, saveTemplates } from './stored-templates.ts'
import { isNamedBy } from './variable-names.ts'

/** Rolls back the transaction of a plan, and carries the changes that were found. */
class Discarded extends Error {
  readonly changes: readonly ConfigChange[]
  constructor(changes: readonly ConfigChange[]) {
    super('A plan changes nothing.')
    this.changes = changes
  }
}

export async function applyConfig(config: Config, context: ConfigContext): Promise<readonly ConfigChange[]> {
  const changes = await prepared(config, context, async (chosen, missing) => {
    // Everything is tried first, so that a refusal comes before columns are added, which would have to be removed again.
    if (missing.length > 0) await tried(config, context, chosen, missing)
    return withNewFields(missing, context, () => reconcile(config, context, chosen, missing, (made) => made))
  })
  if (changes.length > 0) context.control.changed('schedule')
  return changes
}

export const planConfig = (config: Config, context: ConfigContext): Promise<readonly ConfigChange[]> =>
  prepared(config, context, (chosen, missing) => tried(config, context, chosen, missing))

/** Asks sources first, outside the lock, so that others need not wait for them. The rest is done by one caller at a time. */
async function prepared<Result>(
  config: Config,
  { control: { database, plugins, secrets }, services, allowsEmpty = false, hidesReasons = false }: ConfigContext,
  body: (chosen: Chosen, missing: readonly NewField[]) => Promise<Result>,
): Promise<Result> {
  const templates = await readTemplates(database)
  const chosen = await askSources(config, {
    services,
    plugins,
    allowsEmpty,
    hidesReasons,
    isNamedBy: (path, value, name) => isNamedBy(templates, secrets, path, value, name),
  })
  return database.locked('configuration', async () => body(chosen, await missingFields(config, database)))
}

async function tried(
  config: Config,
  context: ConfigContext,
  chosen: Chosen,
  missing: readonly NewField[],
): Promise<readonly ConfigChange[]> {
  try {
    return await inTrial(() =>
      reconcile(config, context, chosen, missing, (changes) => {
        throw new Discarded(changes)
      }),
    )
  } catch (error) {
    if (error instanceof Discarded) return error.changes
    throw error
  }
}

const matchHere: Match = async (...asked) => matchPattern(...asked)

type End = (changes: readonly ConfigChange[]) => readonly ConfigChange[]

async function reconcile(
  config: Config,
  { control, servicesOn, actor, allowsEmpty = false, match = matchHere, tellAssumed }: ConfigContext,
  chosen: Chosen,
  missing: readonly NewField[],
  end: End,
): Promise<readonly ConfigChange[]> {
  const { database } = control
  const attempt = () =>
    database.transaction(async (inside) => {
      const changes: ConfigChange[] = []
      const services = servicesOn(inside)
      const assumptions: Assumption[] = []
      const found = { chosen, changes, assumptions }
      const reconciling = { config, control, services, actor, allowsEmpty, match, database: inside, ...found }
      await reconcileFields(reconciling, missing)
      await walk(reconciling)
      tellAssumed?.(assumptions)
      return end(changes)
    })
  return retrying(database, () => atOneMoment(attempt))
}

async function walk(reconciling: Reconciling): Promise<void> {
  const { file, document } = reconciling.config
  const connections = new Map<string, KnownConnection>()
  for (const [plugin, byName] of Object.entries(document.connections)) {
    for (const [name, settings] of Object.entries(byName)) {
      const path = ['connections', plugin, name]
      const known = await file.at(path, () => reconcileConnection(reconciling, path, settings))
      connections.set(`${plugin}/${name}`, known)
      await saveTemplates(reconciling, path, settings)
    }
  }
  const given = configsGiven(reconciling)
  const names = await connectionNames(reconciling.control.plugins, reconciling.services)
  for (const { connection } of Object.values(document.projects).flatMap(({ collect }) => collect)) {
    if (!connections.has(connection))
      connections.set(connection, await storedConnection(reconciling, connection, names))
  }
  for (const [name, project] of Object.entries(document.projects)) {
    const path = ['projects', name]
    await file.at(path, () => reconcileProject(reconciling, path, project, { connections, given, names }))
    await reconcileTargets(reconciling, path, { kind: 'project', name }, project.targets)
    await saveTemplates(reconciling, path, project)
  }
  await reconcileGroups(reconciling)
  await reconcilePersonalViews(reconciling)
}
