/** Runs a whole route of a plugin in a thread: reading, writing, and making the answer. */
import { type Actor, doRecorded, recordChange } from '../../control-plane/audit/record.ts'
import { FatalError } from '../../errors.ts'
import { toCsv } from '../../plugin-kit/push/csv-text.ts'
import { plugins } from '../../plugins/index.ts'
import { onOwnDatabase } from './own-database.ts'

interface AskedRoute {
  readonly plugin: string
  readonly method: string
  readonly path: string
  readonly actor: Actor
  readonly request: {
    readonly params: unknown
    readonly query: unknown
    readonly body: Readonly<Record<string, unknown>> | undefined
  }
}

/** Turns files back into Buffers: on the way into the thread they became Uint8Arrays. */
const withFiles = (body: AskedRoute['request']['body']) =>
  body &&
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value) : value]),
  )

/** Returns what the route returns; if that is rows for a CSV file, the text of the file. */
export function runRoute(url: string, { plugin, method, path, actor, request }: AskedRoute): Promise<unknown> {
  const { routes = [] } = plugins.find(({ name }) => name === plugin) ?? {}
  const route = routes.find((each) => each.method === method && each.path === path)
  if (!route?.runInThread) throw new FatalError(`${plugin} has no route ${method} ${path} that runs in a thread.`)
  const { runInThread, csv } = route
  return onOwnDatabase(url, async (database) => {
    const result = await runInThread(
      { ...request, body: withFiles(request.body) },
      {
        database,
        record: (inside, change) => recordChange(inside.kysely, actor, { before: null, ...change }),
        doRecorded: (change, act) => doRecorded(database, actor, change, act),
      },
    )
    return csv ? toCsv(csv.columns, result as Parameters<typeof toCsv>[1]) : result
  })
}
