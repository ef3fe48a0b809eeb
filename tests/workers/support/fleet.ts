/** Servers and workers as separate processes over one database. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import type { PlanTask } from '../../../src/plugin-kit/spec/plan.ts'
import { allTables } from '../../../src/tables.ts'
import { testControl } from '../../pipelines/support/test-control.ts'
import { programFile, startProgram } from '../../support/programs.ts'
import { fleet, plugins } from './fleet-plugin.ts'
import type { ServerTarget } from './server-target.ts'
import type { WorkerTarget } from './worker-target.ts'

export const LEASE_MS = 3000

export interface Member {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  kill(signal: NodeJS.Signals): Promise<unknown>
}

export interface Fleet {
  readonly control: ControlPlane
  server(options?: Partial<ServerTarget>): Promise<Member>
  worker(options?: Partial<WorkerTarget>): Promise<Member>
  /** Ends all that are still running. */
  close(): Promise<void>
}

export async function openFleet({ url, database }: { url: string; database: Database }) {
  await migrate(database, [...allTables, ...fleet.tables])
  const control = testControl(database, { plugins })
  const members = new Set<Member>()
  const folder = () => mkdtempSync(join(tmpdir(), 'weir-fleet-'))
  async function start(file: string, target: Partial<WorkerTarget & ServerTarget>): Promise<Member> {
    const place = (name: string) => join(import.meta.dirname, name)
    const { plugins = 'fleet-plugin.ts', ...others } = target
    const module = pathToFileURL(programFile(place(plugins))).href
    const all = { url, dataFolder: folder(), leaseMs: LEASE_MS, ...others, plugins: module }
    const child = startProgram(place(file), [JSON.stringify(all)])
    const ended = once(child, 'exit')
    const member: Member = {
      child,
      ended,
      async kill(signal) {
        child.kill(signal)
        await ended
        members.delete(member)
      },
    }
    members.add(member)
    await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error(`${file} ended`)))])
    return member
  }
  return {
    control,
    server: (options = {}) => start('server-target.ts', options),
    worker: (options = {}) => start('worker-target.ts', { concurrency: 4, drainMs: 60_000, ...options }),
    async close() {
      for (const member of members) member.child.kill('SIGCONT')
      await Promise.all([...members].map((member) => member.kill('SIGKILL')))
    },
  } satisfies Fleet
}

/** Adds a connection with this many boards. Returns the tasks that collect them. */
export async function addBoards(
  { services }: ControlPlane,
  { name, endpoint, count, first = 1, names = {}, ...settings }: BoardsOptions,
): Promise<PlanTask[]> {
  const { id: connectionId } = await services.connections.create('fleet', { name, endpoint, token: name, ...settings })
  const numbers = Array.from({ length: count }, (_, index) => first + index)
  await services.scopes.put(
    'fleet',
    connectionId,
    numbers.map((id) => ({ id, name: names[id] ?? `board ${id}` })),
  )
  return numbers.map((boardId) => ({ plugin: 'fleet', subtasks: [], options: { connectionId, boardId } }))
}
interface BoardsOptions {
  readonly name: string
  readonly endpoint: string
  readonly count: number
  readonly first?: number
  /** Names for single boards, by their number. */
  readonly names?: Readonly<Record<number, string>>
  readonly rateLimitPerHour?: number
}
