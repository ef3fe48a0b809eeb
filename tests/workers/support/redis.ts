/** A real Redis of a test's own, which it can kill and start again at the same address. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/servers.ts'

export const hasRedis = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'redis-server')))

export interface TestRedis {
  readonly url: string
  /** With all that it holds. */
  kill(): Promise<void>
  start(): Promise<void>
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'))
  const parameters = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  let child: ReturnType<typeof spawn> | undefined
  const redis = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      child = spawn('redis-server', parameters, { stdio: 'ignore' })
      while (!(await answers(port))) await sleep(20)
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
  await redis.start()
  return redis
}

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
