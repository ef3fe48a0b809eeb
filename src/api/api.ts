import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Config } from '../config/config.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Services } from '../control-plane/services.ts'
import type { Database } from '../database/database.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Standstill } from '../runner/standstill/standstill.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Measures } from '../telemetry/prometheus/measures.ts'
import type { AttemptLimit } from './access/attempt-limit.ts'
import type { HeavyWork } from './heavy/heavy-work.ts'
import type { SharedAnswers } from './shared-answers.ts'
import type { AdmitStream } from './stream.ts'

/** A server whose routes are typed by their zod schemas. */
export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

export interface ApiContext {
  readonly config: Config
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  /** For reading only; changes go through `servicesFor`. */
  readonly services: Services
  readonly control: ControlPlane
  /** Services that record who makes a change; on the transaction if one is given. */
  servicesFor(request: FastifyRequest, transaction?: Database): Services
  readonly shared: SharedAnswers
  /** Counts wrong keys and tokens by address. */
  readonly failures: AttemptLimit
  /** Runs heavy work outside the thread that answers requests. */
  readonly heavy: HeavyWork
  /** Same as `heavy`, for jobs that go through a whole file or all rows of a project. */
  readonly longWork: HeavyWork
  readonly admitStream: AdmitStream
  /** The measurements that Prometheus reads. */
  readonly measures: Measures
  /** Tells whether data collection has stopped, as this process sees it. */
  readonly standstill: Standstill
}

/** One file per resource. */
export type Routes = (api: Api, context: ApiContext) => void

/** Combines several into one. */
export const inTurn =
  (...parts: readonly Routes[]): Routes =>
  (api, context) => {
    for (const part of parts) part(api, context)
  }

type Plain<Value> = Value extends Date
  ? Value
  : Value extends readonly (infer Each)[]
    ? Plain<Each>[]
    : Value extends object
      ? { -readonly [Name in keyof Value]: Plain<Value[Name]> }
      : Value
/** Services return read-only types, but the types of answers are not read-only. */
export const plain = <Value>(value: Value): Plain<Value> => value as Plain<Value>

/** For handlers that have already sent the reply and return no other answer. */
export const sentAlready = (reply: FastifyReply): never => reply as never
