/**
 * Carries out one action of a switch and dies by SIGKILL at its next journal entry. `after` means: once the entry is
 * committed, before anything else happens. `before-result` means: the call was made and its result is not yet recorded.
 * Arguments: database address, switch, request as JSON, moment, effect whose result may pass. Without arguments it only loads
 * its modules and exits normally, because a killed process leaves no compile cache for the next one.
 */
import type { KyselyPlugin } from 'kysely'
import { openDatabase } from '../../../src/database/open.ts'
import type { Outside } from '../../../traffic/effects/effect.ts'
import { connect } from '../../../traffic/engine/connect.ts'
import { act } from '../../../traffic/engine/engine.ts'

const [url, id, request, moment, spared] = process.argv.slice(2) as [string | undefined, string, string, string, string]
let isWritten = false

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

const isJournalEntry = (node: any): boolean =>
  node.kind === 'InsertQueryNode' && node.into.table.identifier.name === '_weir_traffic_journal'
const isResult = (node: any): boolean => {
  const values = JSON.stringify(node.values)
  return values.includes('"result"') && !values.includes(`"${spared}"`)
}

const killer: KyselyPlugin = {
  transformQuery({ node }) {
    if (isWritten) die()
    if (isJournalEntry(node)) {
      if (moment === 'before-result' && isResult(node)) die()
      if (moment === 'after') isWritten = true
    }
    return node
  },
  transformResult: async ({ result }) => result,
}

/** Wraps the outside so that once the entry is committed, no call leaves this process. */
const guarded = <T extends object>(target: T): T =>
  new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name)
      if (typeof value === 'function') {
        return (...call: unknown[]) => {
          if (isWritten) die()
          return value.apply(object, call)
        }
      }
      return typeof value === 'object' && value !== null ? guarded(value) : value
    },
  })

if (url === undefined) {
  await Promise.all([import('@kubernetes/client-node'), import('@aws-sdk/client-elastic-load-balancing-v2')])
  process.exit()
}

const database = await openDatabase(url)
const engine = {
  database: { ...database, kysely: database.kysely.withPlugin(killer) },
  connect: async (plan: Parameters<typeof connect>[0]): Promise<Outside> => guarded(await connect(plan)),
  now: () => new Date(),
  pollMs: 3,
}
await act(engine, id, JSON.parse(request))
await database.close()
