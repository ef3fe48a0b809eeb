/**
 * Makes stored configuration say what a file says, all of it or nothing. A plan is the same work in a transaction that
 * is thrown away, so it refuses all that an apply would.
 */

import { retrying } from '../database/write.ts'
import { askSources } from './ask-sources.ts'
import type { ConfigChange } from './change.ts'
import type { ConfigContext, Reconciling } from './context.ts'
import type { Config } from './document.ts'
import { type KnownConnection, reconcileConnection } from './reconcile-connection.ts'
import { reconcileProject } from './reconcile-project.ts'
import { requireOneConfigEach } from './reconcile-scopes.ts'
import { saveTemplates } from './stored-templates.ts'

/** Ends a plan's transaction, with what it found. */
class Discarded extends Error {
  readonly changes: readonly ConfigChange[]
  constructor(changes: readonly ConfigChange[]) {
    super('A plan changes nothing.')
    this.changes = changes
  }
}

export async function applyConfig(config: Config, context: ConfigContext): Promise<readonly ConfigChange[]> {
  const changes = await reconcile(config, context, (made) => made)
  if (changes.length > 0) context.control.changed('schedule')
  return changes
}

export async function planConfig(config: Config, context: ConfigContext): Promise<readonly ConfigChange[]> {
  try {
    return await reconcile(config, context, (changes) => {
      throw new Discarded(changes)
    })
  } catch (error) {
    if (error instanceof Discarded) return error.changes
    throw error
  }
}

type End = (changes: readonly ConfigChange[]) => readonly ConfigChange[]

/** Sources are asked before, so that nobody waits for them; the rest is done by one at a time, in one transaction. */
async function reconcile(config: Config, context: ConfigContext, end: End): Promise<readonly ConfigChange[]> {
  const { control, services, servicesOn, allowsEmpty = false, hidesReasons = false } = context
  const { database, plugins } = control
  const chosen = await askSources(config, { services, plugins, allowsEmpty, hidesReasons })
  const attempt = () =>
    database.transaction(async (inside) => {
      const changes: ConfigChange[] = []
      await walk({ config, control, services: servicesOn(inside), chosen, database: inside, changes })
      return end(changes)
    })
  return database.locked('configuration', () => retrying(database, attempt))
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
  requireOneConfigEach(reconciling)
  for (const [name, project] of Object.entries(document.projects)) {
    const path = ['projects', name]
    await file.at(path, () => reconcileProject(reconciling, path, project, connections))
    await saveTemplates(reconciling, path, project)
  }
}
