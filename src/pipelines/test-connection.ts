import { openAwaitedClient } from '../plugin-kit/connection.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { understanding } from '../plugin-kit/remote-scopes.ts'
import { maskSecret } from '../secrets.ts'
import type { Settings } from './records.ts'
import type { ConnectionService } from './services.ts'

export interface TestResult extends Settings {
  readonly success: boolean
  readonly message: string
}

/** Asks the source with these settings, secrets in clear; throws what is wrong with them. */
export async function testConnection(
  source: PluginSpec,
  settings: Settings,
  { mask }: Pick<ConnectionService, 'mask'>,
  how: { readonly isSaved: boolean; readonly signal: AbortSignal },
): Promise<TestResult> {
  const envelope = { code: 0, causes: null, data: null }
  const { check } = source.connection
  if (check) {
    const open = (each: Settings) => openAwaitedClient(source, each)
    const found = await understanding(source.title, () => check(settings, { ...how, open, mask: maskSecret }))
    const { success, message = success ? 'success' : '', details } = found
    return { ...envelope, success, message, ...details }
  }
  const client = openAwaitedClient(source, settings)
  try {
    await client.send(source.connection.test ?? { path: '' }, how.signal)
  } finally {
    await client.close()
  }
  return { ...envelope, success: true, message: 'success', Connection: mask(source.name, settings) }
}
