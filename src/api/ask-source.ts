import type { Services } from '../pipelines/services.ts'
import { openAwaitedClient } from '../plugin-kit/connection.ts'
import type { ApiClient } from '../plugin-kit/http/index.ts'
import type { PluginSpec, Settings } from '../plugin-kit/plugin.ts'
import { understanding } from '../plugin-kit/remote-scopes.ts'

/** Asks a source by a stored connection, while somebody waits for the answer. */
export async function askSource<Result>(
  source: PluginSpec,
  { connections }: Pick<Services, 'connections'>,
  connectionId: number,
  ask: (client: ApiClient, settings: Settings) => Promise<Result>,
): Promise<Result> {
  const settings = await connections.reveal(source.name, connectionId)
  const client = openAwaitedClient(source, settings)
  try {
    return await understanding(source.title, () => ask(client, settings))
  } finally {
    await client.close()
  }
}
