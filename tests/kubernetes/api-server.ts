/** A real API server with its etcd, for the duration of a test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/servers.ts'

/** The token in the kubeconfig of the tests. */
const TOKEN = 'fake-token'

export interface Answer {
  readonly status: number
  readonly body: any
}

export interface ApiServer {
  readonly url: string
  /** Patches need a content type other than JSON. */
  send(method: string, path: string, body?: unknown, type?: string): Promise<Answer>
  stop(): Promise<void>
  start(): Promise<void>
}

export interface Etcd {
  readonly url: string
  close(): Promise<void>
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

export async function startEtcd(): Promise<Etcd> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-etcd-'))
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const child = spawn(
    'etcd',
    [
      '--data-dir',
      folder,
      '--unsafe-no-fsync',
      '--log-level',
      'error',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `default=${peer}`,
    ],
    { stdio: 'ignore' },
  )
  const isReady = () =>
    fetch(`${client}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('etcd did not start')
    await sleep(100)
  }
  return {
    url: client,
    async close() {
      await ended(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function startApiServer(program: string, etcd: Etcd, name: string): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), `weir-api-server-${name}-`))
  const file = (fileName: string, text: string): string => {
    writeFileSync(join(folder, fileName), text)
    return join(folder, fileName)
  }
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signing = file('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  const verifying = file('key.pub', publicKey.export({ type: 'spki', format: 'pem' }).toString())
  const tokens = file('tokens.csv', `${TOKEN},ada,ada,"system:masters"\n`)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  const server: ApiServer = {
    url,
    send: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type, accept: 'application/json' }
        const call = request(`${url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
          let text = ''
          response.on('data', (chunk) => (text += chunk))
          response.on('error', reject)
          response.on('end', () => {
            const isJson = String(response.headers['content-type']).includes('json')
            resolve({ status: response.statusCode!, body: isJson ? JSON.parse(text) : text })
          })
        })
        call.on('error', reject)
        call.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
      }),
    async stop() {
      if (child !== undefined) await ended(child, 'SIGKILL')
      child = undefined
    },
    async start() {
      let errors = ''
      child = spawn(
        program,
        [
          `--etcd-servers=${etcd.url}`,
          `--etcd-prefix=/${name}`,
          '--bind-address=127.0.0.1',
          `--secure-port=${port}`,
          `--cert-dir=${join(folder, 'certificates')}`,
          `--token-auth-file=${tokens}`,
          '--service-account-issuer=https://kubernetes.default.svc',
          `--service-account-key-file=${verifying}`,
          `--service-account-signing-key-file=${signing}`,
          '--service-cluster-ip-range=10.0.0.0/24',
          '--authorization-mode=RBAC',
          '--disable-admission-plugins=ServiceAccount',
          '--v=0',
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      )
      const own = child
      own.stderr!.on('data', (chunk) => (errors = `${errors}${chunk}`.slice(-4000)))
      const isReady = () =>
        server.send('GET', '/readyz').then(
          ({ status }) => status === 200,
          () => false,
        )
      while (!(await isReady())) {
        if (own.exitCode !== null) throw new Error(`the API server did not start: ${errors}`)
        await sleep(200)
      }
    },
  }
  await server.start()
  return {
    ...server,
    async stop() {
      await server.stop()
    },
  }
}

/** Whether a program is installed. */
export const hasProgram = (name: string): boolean => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
