/** The whole path of a delivery: sent over HTTP, kept in the inbox, applied by the runner. */
import type { Database } from '../../../src/database/database.ts'
import { type Runner, startRunner } from '../../../src/runner/runner.ts'
import { createTaskThreads } from '../../../src/runner/task-threads.ts'
import { SECRET_KEY, startTestApi, type TestApi } from '../../api/support/test-api.ts'
import { domainRows } from '../../collect/support/github.ts'
import { until } from '../../pipelines/support/test-control.ts'

export interface Sent {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Receiver {
  readonly api: TestApi
  /** Starts the runner. Without it nothing is applied. */
  run(): Promise<void>
  rest(): Promise<void>
  send(place: Place, sent: Sent, query?: string): Promise<{ readonly status: number; readonly body: any }>
  newSecret(place: Place): Promise<string>
  /** Returns the status of the answer. */
  replay(place: Place, id: number): Promise<number>
  /** The newest delivery comes first. */
  inbox(place: Place): Promise<any[]>
  /** Waits until no delivery is waiting, and returns the newest. */
  settled(place: Place): Promise<any>
  close(): Promise<void>
}

export interface Place {
  readonly plugin: string
  readonly connectionId: number
}

/** Returns the rows of the named tables that one connection collected. */
export async function rowsOfConnection(database: Database, { connectionId }: Place, tables: readonly string[]) {
  const all = await domainRows(database)
  const isOwn = (row: string) => row.includes(`\\"ConnectionId\\":${connectionId},`)
  return Object.fromEntries(tables.map((name) => [name, (all[name] ?? []).filter(isOwn)]))
}

export async function startReceiver(database: Database, databaseUrl: string): Promise<Receiver> {
  const api = await startTestApi(database)
  const url = await api.server.listen({ port: 0, host: '127.0.0.1' })
  let runner: Runner | undefined
  const at = ({ plugin, connectionId }: Place) => `/v1/plugins/${plugin}/connections/${connectionId}/deliveries`
  const inbox = async ({ plugin, connectionId }: Place): Promise<any[]> => {
    return (await api.ask('GET', `${at({ plugin, connectionId })}?pageSize=1000`)).body.deliveries
  }
  const rest = async () => {
    await runner?.stop()
    runner = undefined
  }
  return {
    api,
    rest,
    inbox,
    async run() {
      const threads = {
        databaseUrl,
        secretKey: SECRET_KEY,
        dataFolder: api.dataFolder,
        pluginModule: new URL('../../../src/plugins/index.ts', import.meta.url).href,
      }
      const dispatch = createTaskThreads(threads)
      runner ??= await startRunner(api.control, { dispatch, consume: true, maxParallel: 1, resume: true })
    },
    async send(place, { body, headers }, query = '') {
      const response = await fetch(`${url}${at(place)}${query}`, { method: 'POST', body, headers })
      const text = await response.text()
      return { status: response.status, body: JSON.parse(text) }
    },
    replay: async (place, id) => (await api.ask('POST', `${at(place)}/${id}/replay`)).status,
    newSecret: async (place) => (await api.ask('POST', `${at(place)}/secret`)).body.secret,
    async settled(place) {
      const [newest] = await until(async () => {
        const all = await inbox(place)
        return all.every(({ state }) => state !== 'waiting') && all
      })
      return newest
    },
    async close() {
      await rest()
      await api.close()
    },
  }
}
