/** A shop that is collected quickly: nothing is cloned, and only the repository is requested. */
import type { LiveServer } from '../../api/support/live-server.ts'
import type { FakeGithub } from '../../fake-github/fake-github.ts'
import { ask, makeShop, type Shop } from './shop.ts'

export interface QuickShop extends Shop {
  /** Starts a run, and returns its number. */
  run(): Promise<number>
}

export async function createQuickShop(server: LiveServer, github: FakeGithub, name = 'shop'): Promise<QuickShop> {
  const shop = await makeShop(server, github, name, { entities: ['CODEREVIEW', 'TICKET', 'CICD'] }, [])
  const at = `/blueprints/${shop.blueprintId}`
  await ask(server, 'PATCH', at, { isManual: true, timeAfter: '2015-01-01T00:00:00Z' })
  return { ...shop, run: async () => (await ask(server, 'POST', `${at}/trigger`)).id }
}
