import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type RequestLog, requestLog } from '../fake-github/request-log.ts'
import { startProgram } from '../support/programs.ts'
import { applyChange, type Change } from './changes.ts'
import type { FakeGitlab, FakeGitlabOptions } from './fake-gitlab.ts'
import { createWorld, type World } from './world.ts'

/** A fake GitLab in a separate process, so that it takes no time from the process that is measured or killed. */
export interface SpawnedFakeGitlab {
  readonly url: string
  /** An equal world in this process. `update` changes both. */
  readonly world: World
  state(): Promise<{ readonly requests: RequestLog; readonly violations: FakeGitlab['violations'] }>
  update(change: Change): Promise<void>
  clearRequests(): Promise<void>
  stop(): Promise<void>
}

export async function spawnFakeGitlab(options: FakeGitlabOptions = {}): Promise<SpawnedFakeGitlab> {
  const child = startProgram(join(import.meta.dirname, 'main.ts'), [JSON.stringify(options)])
  const ended = once(child, 'exit')
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>
  const url = await Promise.race([
    first.then(([line]) => line),
    ended.then(([code]) => Promise.reject(new Error(`the fake GitLab ended with code ${code} before it was ready`))),
  ])
  const world = createWorld(options.world)
  const call = async (name: string, ...parameters: unknown[]): Promise<any> => {
    const response = await fetch(new URL(`/_fake/${name}`, url), { method: 'POST', body: JSON.stringify(parameters) })
    return response.json()
  }
  return {
    url,
    world,
    async state() {
      const { entries, violations } = await call('state')
      return { requests: requestLog(entries), violations }
    },
    async update(change) {
      const now = Date.now()
      await call('update', change, now)
      applyChange(world, change, now)
    },
    clearRequests: async () => void (await call('clear')),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
