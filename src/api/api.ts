import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import type { ControlPlane } from '../pipelines/control-plane.ts'
import type { Services } from '../pipelines/services.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import type { Secrets } from '../secrets.ts'
import type { AttemptLimit } from './access/attempt-limit.ts'
import type { HeavyWork } from './heavy/heavy-work.ts'
import type { SharedAnswers } from './shared-answers.ts'
import type { AdmitStream } from './stream.ts'

/** A server whose routes are typed by their zod schemas. */
export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

/** What routes work with. */
export interface ApiContext {
  readonly config: Config
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  /** For reading; changes go through `servicesFor`. */
  readonly services: Services
  readonly control: ControlPlane
  /** Records who changes what; on a transaction where one is given. */
  servicesFor(request: FastifyRequest, transaction?: Database): Services
  readonly shared: SharedAnswers
  /** Wrong keys and tokens, by address. */
  readonly failures: AttemptLimit
  /** Beside the thread that answers. */
  readonly heavy: HeavyWork
  readonly admitStream: AdmitStream
}

/** One file a resource. */
export type Routes = (api: Api, context: ApiContext) => void
