import type { Services } from '../control-plane/services.ts'
import type { ApiClient } from '../plugin-kit/http/index.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { readAnswer } from '../plugin-kit/spec/remote-scopes.ts'
import { openAwaitedClient } from '../plugin-kit/task/connection.ts'

/** Sends requests to a source through a stored connection, while a user waits for the answer. */
export async function askSource<Result>(
  source: PluginSpec,
  { connections }: Pick<Services, 'connections'>,
  connectionId: number,
  ask: (client: ApiClient, settings: Settings) => Promise<Result>,
): Promise<Result> {
  const settings = await connections.reveal(source.name, connectionId)
  const client = openAwaitedClient(source, settings)
  try {
    return await readAnswer(source.title, () => ask(client, settings))
  } finally {
    await client.close()
  }
}
