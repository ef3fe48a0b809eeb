import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startProgram } from '../support/programs.ts'
import type { FakeState } from './control.ts'
import type { FakeGithubOptions } from './fake-github.ts'
import type { FaultDetails, FaultKind } from './faults.ts'
import { type RequestLog, requestLog } from './request-log.ts'
import { applyChange, type Change } from './world/changes.ts'
import type { Item } from './world/records.ts'
import { createWorld, type World } from './world/world.ts'

/** A fake GitHub in a separate process, so that it takes no time from the process that is measured or killed. */
export interface SpawnedFakeGithub {
  readonly url: string
  readonly pid: number
  /** An equal world in this process. `update` changes both. */
  readonly world: World
  state(): Promise<Omit<FakeState, 'entries'> & { readonly requests: RequestLog }>
  update(change: Change): Promise<Item | undefined>
  failNext(kind: FaultKind, details?: FaultDetails): Promise<void>
  revoke(token: string): Promise<void>
  clearRequests(): Promise<void>
  stop(): Promise<void>
}

export async function spawnFakeGithub(options: FakeGithubOptions = {}): Promise<SpawnedFakeGithub> {
  const child = startProgram(join(import.meta.dirname, 'main.ts'), [JSON.stringify(options)])
  const ended = once(child, 'exit')
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>
  const url = await Promise.race([
    first.then(([line]) => line),
    ended.then(([code]) => Promise.reject(new Error(`the fake GitHub ended with code ${code} before it was ready`))),
  ])
  const world = createWorld(options.world)
  const call = async (name: string, ...given: unknown[]): Promise<any> => {
    const response = await fetch(`${url}/_fake/${name}`, { method: 'POST', body: JSON.stringify(given) })
    const answer: any = await response.json()
    if (!response.ok) throw new Error(`the fake GitHub refused ${name}: ${answer.message}`)
    return answer
  }
  return {
    url,
    pid: child.pid!,
    world,
    state: async () => {
      const { entries, ...rest } = (await call('state')) as FakeState
      return { ...rest, requests: requestLog([...entries]) }
    },
    update: async (change) => {
      const now = Date.now()
      await call('update', change, now)
      return applyChange(world, change, now)
    },
    failNext: async (kind, details) => void (await call('fail-next', kind, details ?? {})),
    revoke: async (token) => void (await call('revoke', token)),
    clearRequests: async () => void (await call('clear')),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
