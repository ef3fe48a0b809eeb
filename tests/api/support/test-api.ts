/** The whole API on a test database, called without a port. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { expect } from 'vitest'
import { BREACH } from '../../../src/api/access/route-law.ts'
import { createServer } from '../../../src/api/server.ts'
import { type Environment, readConfig } from '../../../src/config/config.ts'
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLog } from '../../../src/log.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { plugins as allPlugins } from '../../../src/plugins/index.ts'
import { createSecrets } from '../../../src/secrets/secrets.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../../src/start/prepare-database.ts'

export const SECRET_KEY = 'a key that is only used in tests'

export interface Answer {
  readonly status: number
  readonly headers: Record<string, any>
  /** Parsed if it is JSON. */
  readonly body: any
  readonly text: string
}
type Sent = Pick<InjectOptions, 'headers' | 'query'>

export interface TestApi {
  readonly server: FastifyInstance
  readonly control: ControlPlane
  readonly dataFolder: string
  log(): string
  /** Sends a request, and checks the answer against the description of its route. */
  ask(method: string, url: string, body?: unknown, sent?: Sent): Promise<Answer>
  close(): Promise<void>
}

export async function startTestApi(
  database: Database,
  environment: Environment = {},
  plugins = allPlugins,
): Promise<TestApi> {
  await prepareDatabase(database)
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-api-'))
  const lines: string[] = []
  let breach: string | undefined
  const write = (line: string) => {
    lines.push(line)
    if (line.includes(BREACH)) breach = line
  }
  const log = createLog('debug', { write })
  const secrets = createSecrets(SECRET_KEY)
  const control = createControlPlane({ database, plugins, secrets, dataFolder, log })
  const config = readConfig({ DATA_FOLDER: dataFolder, ...environment })
  const server = await createServer({ config, control, log })
  await server.ready()
  const check = checkerOf(server, plugins, environment)
  return {
    server,
    control,
    dataFolder,
    log: () => lines.join(''),
    async ask(method, url, body, sent = {}) {
      const answer = await ask(server, method, url, body, sent)
      if (answer.status === 500) throw new Error(`${method} ${url} failed: ${lines.slice(-2).join('')}`)
      if (breach) throw new Error(breach)
      check(method, url, answer)
      return answer
    },
    close: () => server.close(),
  }
}

async function ask(server: FastifyInstance, method: string, url: string, body: unknown, sent: Sent): Promise<Answer> {
  const isEncoded = typeof body === 'string' || Buffer.isBuffer(body)
  const payload = body === undefined ? {} : { payload: isEncoded ? body : JSON.stringify(body) }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await server.inject({
    ...sent,
    method: method as 'GET',
    url,
    ...payload,
    headers: { ...type, ...sent.headers },
  })
  const isJson = String(response.headers['content-type']).includes('application/json') && response.payload !== ''
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? JSON.parse(response.payload) : response.payload,
    text: response.payload,
  }
}

const checkers = new Map<string, AnswerChecker>()

/** Creating and compiling the description takes longer than most tests, so it is done once per API, for both databases. */
function checkerOf(server: FastifyInstance, plugins: readonly Plugin[], environment: Environment): AnswerChecker {
  if (plugins !== allPlugins) return answerChecker((server as any).swagger())
  const key = JSON.stringify(environment)
  const checker = checkers.get(key) ?? answerChecker((server as any).swagger())
  checkers.set(key, checker)
  return checker
}

type AnswerChecker = (method: string, url: string, answer: Answer) => void

/** Checks answers by the templates of the description. More exact templates come first. */
function answerChecker(document: any): AnswerChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'api')
  const compiled = new Map<string, ValidateFunction>()
  const templates = Object.keys(document.paths)
    .map((path) => ({
      path,
      pattern: new RegExp(`^${path.replace(/\{(path|scopeId)\}/g, '.+').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      open: path.split('{').length,
    }))
    .sort((left, right) => left.open - right.open || right.path.length - left.path.length)
  const pointer = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')

  return (method, url, { status, headers, body, text }) => {
    const path = url.replace(/^\/api(?=\/)/, '').split('?')[0] as string
    const found = templates.find((each) => each.pattern.test(path) && document.paths[each.path][method.toLowerCase()])
    if (!found || url.includes('/rest/')) return
    // The request never reached a route, because a parameter was empty.
    if (status === 301 || status === 307 || text === '404 page not found') return
    const { responses } = document.paths[found.path][method.toLowerCase()]
    const at = responses[status] ? status : 'default'
    const shared = responses[at]?.$ref?.split('/').at(-1)
    const described = shared ? document.components.responses[shared] : responses[at]
    expect(described, `${method} ${found.path} does not describe ${status}: ${text}`).toBeDefined()
    const type = String(headers['content-type']).split(';')[0] as string
    if (type !== 'application/json' && described.content?.[type]) return
    if (!described.content?.['application/json']) return
    const place = shared
      ? ['components', 'responses', shared]
      : ['paths', found.path, method.toLowerCase(), 'responses', String(at)]
    const reference = `api#/${[...place, 'content', 'application/json', 'schema'].map((part) => encodeURIComponent(pointer(part))).join('/')}`
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference })
    compiled.set(reference, validate)
    if (!validate(body)) {
      const problems = ajv.errorsText(validate.errors, { dataVar: 'answer' })
      throw new Error(
        `${method} ${url} answered what its description does not allow: ${problems}\n${text.slice(0, 2000)}`,
      )
    }
  }
}
