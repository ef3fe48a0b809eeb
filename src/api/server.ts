/** The HTTP interface: one route table for `/`, `/api` and `/rest`, answers and failures in DevLake's shapes. */
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { z } from 'zod'
import packageFile from '../../package.json' with { type: 'json' }
import { explainIssues, type Issue } from '../basics/explain-issues.ts'
import type { Config } from '../config/config.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { LONGEST_PREVIEW_MS } from '../control-plane/scopes/rule-preview.ts'
import { UserError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { createStandstill, type Standstill } from '../runner/standstill/standstill.ts'
import { createControlPlane } from '../start/create-control-plane.ts'
import { createMeasures, type Measures } from '../telemetry/prometheus/measures.ts'
import { accessMode } from './access/access-token.ts'
import { attemptLimit, networkOf } from './access/attempt-limit.ts'
import { actorOf, installGate, isProbe } from './access/gate.ts'
import { requireHeavy, requireLaws, sizeOf } from './access/route-law.ts'
import { rewriteUrl, withoutSlash } from './addresses.ts'
import type { Api, ApiContext } from './api.ts'
import { parseBody } from './body.ts'
import { cleanRequests } from './clean-requests.ts'
import { errorHandler, sendFailure } from './envelope.ts'
import { createHeavyWork } from './heavy/heavy-work.ts'
import { knownParameters } from './known-parameters.ts'
import { turnsForLargeBodies } from './large-bodies.ts'
import { limitLargeRequests } from './large-requests.ts'
import { areSure, inPart } from './long-lists.ts'
import { observeRequests, requestId } from './observe-requests.ts'
import { coreRoutes, sourceRoutes } from './routes/index.ts'
import { descriptionRoutes, installDescription } from './routes/open-api.ts'
import { sharedAnswers } from './shared-answers.ts'
import { limitWaiting, socketOptions } from './sockets.ts'
import { streamLimit } from './stream.ts'
import { unknownAddresses } from './unknown-addresses.ts'
import { installWatchdog } from './watchdog.ts'

interface ServerDependencies {
  readonly config: Config
  readonly control: ControlPlane
  readonly log: Logger
  /** The measures of this process; created if left out. */
  readonly measures?: Measures
  /** Likewise; the one created here looks only when it is asked. */
  readonly standstill?: Standstill
}

const LONGEST_NAME_IN_ADDRESS = 3000
/** Longer than a preview, which ends by itself before. */
const LONGEST_WORK_MS = LONGEST_PREVIEW_MS + 10_000

export async function createServer({ config, control, log, ...others }: ServerDependencies): Promise<FastifyInstance> {
  const { database, plugins, secrets } = control.context
  const server = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    forceCloseConnections: true,
    ...socketOptions(config),
    routerOptions: { maxParamLength: LONGEST_NAME_IN_ADDRESS },
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    rewriteUrl,
    genReqId: requestId,
    frameworkErrors: (error, request, reply: FastifyReply) => sendFailure(error, database, request, reply),
  })
  server.server.maxConnections = config.mostConnections
  limitWaiting(server.server, { unused: config.mostUnusedConnections, all: config.mostConnections })
  const api = server as unknown as Api
  const standstill = others.standstill ?? createStandstill(control.context, { needsWorkers: false })
  const measures = others.measures ?? createMeasures({ ...control.context, version: packageFile.version, standstill })
  const shared = sharedAnswers()
  const context: ApiContext = {
    config,
    database,
    plugins,
    secrets,
    services: control.services,
    control,
    servicesFor(request, transaction) {
      const own = transaction ? createControlPlane({ ...control.context, database: transaction }) : control
      return own.servicesFor(actorOf(request))
    },
    shared,
    failures: attemptLimit(),
    heavy: createHeavyWork({ onRun: requireHeavy }),
    longWork: createHeavyWork({
      limitMs: LONGEST_WORK_MS,
      patienceMs: LONGEST_WORK_MS,
      mostWaiting: 8,
      onRun: requireHeavy,
    }),
    admitStream: streamLimit(config.mostEventStreams),
    measures,
    standstill,
  }

  api.addHook('onClose', async () => {
    if (!others.measures) measures.close()
    if (!others.standstill) await standstill.stop()
    await Promise.all([context.heavy.close(), context.longWork.close()])
  })
  requireLaws(api)
  installWatchdog(api)
  observeRequests(api, measures)
  // Schemas validate what comes in. Tests, not every request, compare what goes out with its schema.
  api.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (value) => {
    const refusal = (issues: readonly unknown[]) => ({
      error: new UserError(explainIssues(issues as readonly Issue[], { httpPart, value, schema })),
    })
    const part = inPart(value)
    const first = part === undefined ? undefined : schema.safeParse(part)
    if (first?.error && areSure(first.error.issues)) return refusal(first.error.issues)
    const result = schema.safeParse(value)
    return result.success ? { value: result.data } : refusal(result.error.issues)
  })
  api.setSerializerCompiler(() => (value) => JSON.stringify(value))
  api.setErrorHandler(errorHandler(database))
  const unknown = unknownAddresses(api)
  api.setNotFoundHandler((request, reply) => unknown.answer(request, reply))
  api.addHook('onRequest', async (request, reply) => {
    const target = withoutSlash(request.originalUrl)
    if (target) return reply.redirect(target, request.method === 'GET' ? 301 : 307)
  })
  api.removeAllContentTypeParsers()
  const turnFor = turnsForLargeBodies()
  api.addContentTypeParser('*', { parseAs: 'string' }, async (request: FastifyRequest, text: string) => {
    await turnFor(text.length)
    return parseBody(request, text, sizeOf(request))
  })
  // An answer begun before a change may not show it, so it is no longer shared.
  api.addHook('onSend', async ({ method }, reply) => {
    if (method !== 'GET') shared.changed()
    // Data shown to one user must not stay in a cache that others use.
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
  })

  await installProtection(api, context)
  cleanRequests(api)
  knownParameters(api)
  installGate(api, context)
  limitLargeRequests(api)
  api.addHook('onRequest', async (request, reply) => {
    // Answers before the body is read, because nothing is going to use it.
    if (request.is404) return unknown.answer(request, reply)
  })
  const description = installDescription(api, config)
  await api.register(async (routes) => {
    const typed = routes as Api
    coreRoutes(typed, context)
    sourceRoutes(typed, context)
    descriptionRoutes(typed, description)
  })
  return server as unknown as FastifyInstance
}

async function installProtection(api: Api, { config }: ApiContext): Promise<void> {
  await api.register(cookie)
  await api.register(helmet, {
    contentSecurityPolicy: {
      directives: {
        defaultSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        frameAncestors: ["'self'"],
        // Installations without TLS must continue working.
        upgradeInsecureRequests: null,
      },
    },
  })
  const isLocal = accessMode(config) === 'open'
  if (config.requestsPerMinute > 0 && !isLocal) {
    await api.register(rateLimit, {
      max: config.requestsPerMinute,
      timeWindow: '1 minute',
      allowList: isProbe,
      // Determined after the gate, so that a known user is not shut out by others behind the same address.
      keyGenerator: ({ user, ip }) => user?.id || networkOf(ip),
      errorResponseBuilder: (_request, { after }) =>
        new UserError(`Too many requests at once: try again after ${after}.`, { status: 429 }),
    })
  }
}
