import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ForwardAction } from '../../../traffic/model/action.ts'
import { freePort } from '../../support/servers.ts'

export const HAPROXY = '/usr/sbin/haproxy'
export const hasHaproxy = existsSync(HAPROXY)

export interface Answer {
  readonly status: number
  readonly cluster: 'current' | 'target' | undefined
  /** The cookie that the balancer sets. */
  readonly cookie: string | undefined
}

/** A real HAProxy that follows the forward action of an annotation as an Application Load Balancer does. */
export interface WeightedProxy {
  follow(action: ForwardAction): Promise<void>
  ask(cookie?: string): Promise<Answer>
  /** Sends this many requests without a cookie, several at once. */
  count(requests: number): Promise<Record<'current' | 'target' | 'errors', number>>
  stopTarget(): Promise<void>
  close(): Promise<void>
}

const startServer = async (cluster: string): Promise<Server> => {
  const server = createServer((_request, response) => response.writeHead(200, { 'x-cluster': cluster }).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port
const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })

/** The group is drawn again for each request. Health does not influence the choice, and there is no second try. */
const configuration = (port: number, socket: string, current: number, target: number): string => `
global
  stats socket ${socket} mode 600 level admin
  set-var proc.wc int(1)
  set-var proc.wt int(0)
  set-var proc.sticky int(0)
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  retries 0
frontend balancer
  bind 127.0.0.1:${port}
  acl is_sticky var(proc.sticky) -m int 1
  acl has_cookie req.cook(AWSALBTG) -m str current target
  http-request set-var(txn.total) var(proc.wc),add(proc.wt)
  http-request set-var(txn.draw) rand(1000000),mod(txn.total)
  http-request set-var(txn.group) str(target)
  http-request set-var(txn.group) str(current) if { var(txn.draw),sub(proc.wc) -m int lt 0 }
  http-request set-var(txn.group) req.cook(AWSALBTG) if is_sticky has_cookie
  http-after-response add-header Set-Cookie "AWSALBTG=%[var(txn.group)]" if is_sticky
  use_backend tg_target if { var(txn.group) -m str target }
  default_backend tg_current
backend tg_current
  server one 127.0.0.1:${current}
backend tg_target
  server one 127.0.0.1:${target}
`

export async function startProxy(): Promise<WeightedProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-haproxy-'))
  const [current, target, port] = await Promise.all([startServer('current'), startServer('target'), freePort()])
  const socket = join(folder, 'admin')
  writeFileSync(join(folder, 'haproxy.cfg'), configuration(port, socket, portOf(current), portOf(target)))
  const child: ChildProcess = spawn(HAPROXY, ['-db', '-f', join(folder, 'haproxy.cfg')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr!.on('data', (chunk) => (errors += chunk))
  const agent = new Agent({ keepAlive: true, maxSockets: 40 })

  const ask = (cookie?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = cookie === undefined ? {} : { cookie }
      const request = httpRequest({ host: '127.0.0.1', port, agent, headers }, (response) => {
        response.resume().on('end', () =>
          resolve({
            status: response.statusCode!,
            cluster: response.headers['x-cluster'] as Answer['cluster'],
            cookie: response.headers['set-cookie']?.[0],
          }),
        )
      })
      request.on('error', reject).end()
    })
  while (
    !(await ask().then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`HAProxy did not start: ${errors}`)
    await sleep(20)
  }

  return {
    async follow({ forwardConfig }) {
      const [weightCurrent, weightTarget] = forwardConfig.targetGroups.map(({ weight }) => weight)
      const isSticky = forwardConfig.targetGroupStickinessConfig.enabled
      const values = { wc: weightCurrent, wt: weightTarget, sticky: isSticky ? 1 : 0 }
      const commands = Object.entries(values).map(
        ([name, value]) => `experimental-mode on; set var proc.${name} int(${value})`,
      )
      for (const command of commands) await tell(socket, command)
    },
    ask,
    async count(requests) {
      const counts = { current: 0, target: 0, errors: 0 }
      let left = requests
      const worker = async () => {
        while (left-- > 0) {
          const { status, cluster } = await ask()
          if (status === 200 && cluster !== undefined) counts[cluster]++
          else counts.errors++
        }
      }
      await Promise.all(Array.from({ length: 40 }, worker))
      return counts
    },
    stopTarget: () => stop(target),
    async close() {
      agent.destroy()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      await Promise.all([stop(current), target.listening ? stop(target) : undefined])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const tell = (path: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(path, () => socket.end(`${command}\n`))
    socket
      .on('data', (chunk) => (answer += chunk))
      .on('error', reject)
      .on('close', () => (/error|unknown/i.test(answer) ? reject(new Error(answer)) : resolve(answer)))
  })
