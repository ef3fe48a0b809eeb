import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { messageOf, RetryableError } from '../errors.ts'
import { dns } from './effects/dns-effect.ts'
import type { Effect, EffectContext, Outside } from './effects/effect.ts'
import { cleanupEffects, prepareEffects, rollbackEffects, stepEffects } from './effects/sequences.ts'
import { refuseErrors, TrafficError } from './finding.ts'
import { type GateResult, judgeGate } from './gates.ts'
import { lintPlan } from './lint-plan.ts'
import type { Plan } from './plan.ts'
import { recordDeployment } from './record-deployment.ts'
import { type Action, type State, transitionOf } from './state.ts'
import {
  claimAction,
  getSwitch,
  LEASE_MS,
  planOf,
  type Run,
  releaseAction,
  type SwitchChanges,
  type SwitchRow,
  startRun,
} from './store.ts'

export interface Engine {
  readonly database: Database
  connect(plan: Plan): Promise<Outside>
  /** For dwell and quiet times; waiting for the outside always uses the real clock. */
  now(): Date
  /** Pause between two looks at the outside. */
  readonly pollMs: number
}

export interface Request {
  readonly action: Action
  readonly actor: string
  readonly expectedVersion?: number | undefined
  /** Needed for everything that skips a check; stored in the journal. */
  readonly reason?: string | undefined
  readonly overrideGates?: boolean | undefined
  readonly uncheckedDns?: boolean | undefined
  readonly skipQuiet?: boolean | undefined
  readonly acceptLive?: boolean | undefined
  /** Clean-up and abort delete things: the name of the plan, typed by whoever wants it. */
  readonly confirm?: string | undefined
}

/** What one action of one run needs; made once, handed to every step. */
interface Work {
  readonly engine: Engine
  readonly run: Run
  readonly plan: Plan
  readonly outside: Outside
  readonly request: Request
  readonly context: EffectContext
}

/** Carries one action out, or goes on where a killed process stopped. */
export async function act(engine: Engine, id: string, request: Request): Promise<SwitchRow> {
  const skipped = (['overrideGates', 'uncheckedDns', 'skipQuiet', 'acceptLive'] as const).filter(
    (name) => request[name] === true,
  )
  if (skipped.length > 0 && !request.reason)
    throw new TrafficError('invalid', `${skipped.join(' and ')} skips a check: give a reason.`)
  const run = await startRun(engine.database, id, request.action, request.actor, request.expectedVersion)
  try {
    const plan = planOf(run.row)
    transitionOf(run.row.state, request.action)
    if (skipped.length > 0 && !run.has('note', skipped.join(',')))
      await run.write('note', skipped.join(','), request.reason)
    await perform(engine, run, plan, request)
  } finally {
    await run.end()
  }
  return getSwitch(engine.database, id)
}

async function perform(engine: Engine, run: Run, plan: Plan, request: Request): Promise<void> {
  const { state } = run.row
  if (request.action === 'pause') return enter(run, 'paused', { problem: request.reason ?? 'paused by hand' })
  if (state === 'draft' && request.action === 'rollback') return enter(run, 'rolled-back')
  if (request.action === 'cleanup' || request.action === 'abort') requireConfirmation(plan, request)
  if (state === 'draft' && request.action === 'abort') return enter(run, 'cleaned-up')
  if (request.action === 'prepare') refuseErrors('The plan', lintPlan(plan))
  const outside = await engine.connect(plan)
  const context: EffectContext = { plan, outside, row: () => run.row, acceptsLive: request.acceptLive === true }
  const work: Work = { engine, run, plan, outside, request, context }
  try {
    await PERFORM[request.action](work)
  } catch (error) {
    // Only from here on: who may not act, or cannot even connect, leaves the switch as it is.
    await noteProblem(run, error)
    throw error
  }
}

const PERFORM: Readonly<Record<Exclude<Action, 'pause'>, (work: Work) => Promise<void>>> = {
  async prepare({ engine, run, plan, context }) {
    await claimAction(engine.database, plan, run.row.id)
    const [preflight, ...rest] = prepareEffects(context)
    if (run.row.state !== 'preparing') {
      // Looked at before the first state change: a plan that does not fit leaves no trace.
      await runEffects(engine, run, plan, [preflight!]).catch(async (error: unknown) => {
        if (run.row.state === 'draft') await releaseAction(engine.database, run.row.id)
        throw error
      })
      await enter(run, 'preparing', { problem: null, began_at: null })
    }
    await runEffects(engine, run, plan, rest)
    await enter(run, 'prepared', { step: 0, verified_at: engine.now(), approved_at: null })
  },
  async advance(work) {
    const { engine, run, plan } = work
    if (run.row.verified_at === null) return shiftTo(work, run.row.step)
    await passGates(work)
    const next = run.row.step + 1
    if (next < plan.steps.length) return shiftTo(work, next)
    await recordDeployment(engine.database, run.row, plan, 'SUCCESS', engine.now())
    await enter(run, 'switched', { problem: null })
  },
  async rollback(work) {
    await rollBack(work)
  },
  async dns({ engine, run, plan, context, request }) {
    if (request.uncheckedDns !== true) await runEffects(engine, run, plan, [dns(context, 'target')])
    await enter(run, 'dns-switched', { dns_confirmed_at: engine.now(), problem: null })
  },
  async cleanup(work) {
    const { engine, run, plan, request } = work
    const confirmed = run.row.dns_confirmed_at?.getTime()
    const left = confirmed === undefined ? 0 : confirmed + plan.dns.quietMinutes * 60_000 - engine.now().getTime()
    if (run.row.state === 'dns-switched' && left > 0 && request.skipQuiet !== true) {
      throw new TrafficError(
        'gate',
        `Wait ${Math.ceil(left / 60_000)} more minutes after the DNS switch: resolvers and long connections still use the old load balancer.`,
      )
    }
    await cleanUp(work)
  },
  abort: cleanUp,
}

async function shiftTo(work: Work, step: number): Promise<void> {
  const { engine, run, plan, context } = work
  const movesTraffic = plan.steps[step]!.weights.target > 0
  if (run.row.state !== 'shifting' || run.row.step !== step || run.row.verified_at !== null) {
    const began = run.row.began_at ?? (movesTraffic ? engine.now() : null)
    await enter(run, 'shifting', { step, verified_at: null, approved_at: null, problem: null, began_at: began })
  }
  await runEffects(engine, run, plan, stepEffects(context, step))
  await run.write('state', 'verified', { step }, { verified_at: engine.now() })
}

async function rollBack({ engine, run, plan, context, request }: Work): Promise<void> {
  const isDnsMoved = run.row.dns_confirmed_at !== null
  await enter(run, 'rolling-back')
  await runEffects(engine, run, plan, rollbackEffects(context, isDnsMoved && request.uncheckedDns !== true))
  if (run.row.began_at !== null) await recordDeployment(engine.database, run.row, plan, 'FAILURE', engine.now())
  await enter(run, 'rolled-back', { step: 0, verified_at: null, dns_confirmed_at: null, problem: null })
}

async function cleanUp({ engine, run, plan, context }: Work): Promise<void> {
  // Before the DNS switch the current Ingress carries all traffic: an abort never deletes it.
  const keepsIngress = plan.cleanup.currentIngress === 'keep-service' || run.row.dns_confirmed_at === null
  await enter(run, 'cleaning', { problem: null })
  await runEffects(engine, run, plan, cleanupEffects(context, keepsIngress))
  await releaseAction(engine.database, run.row.id)
  await enter(run, 'cleaned-up')
}

function requireConfirmation(plan: Plan, { confirm }: Request): void {
  if (confirm !== plan.name) {
    throw new TrafficError(
      'invalid',
      `This deletes the binding and the target group of ${plan.name}${plan.cleanup.currentIngress === 'delete-ingress' ? ', and the current Ingress with its load balancer' : ''}. Confirm with the name of the plan.`,
    )
  }
}

async function enter(run: Run, state: State, changes: SwitchChanges = {}): Promise<void> {
  const isSame = Object.entries(changes).every(([name, value]) => run.row[name as keyof SwitchChanges] === value)
  if (run.row.state === state && isSame) return
  await run.write('state', state, { before: run.row.state, after: state }, { ...changes, state })
}

/** Announced before anything is asked of the outside, and reported after; a restart finds the announcement and looks. */
async function runEffects(engine: Engine, run: Run, plan: Plan, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) {
    if (run.has('result', effect.name)) continue
    if (!run.has('intent', effect.name)) await run.write('intent', effect.name)
    try {
      const how = await bringAbout(engine, run, plan, effect)
      await run.write('result', effect.name, how, effect.learned?.() ?? {})
    } catch (error) {
      await run.write('failure', effect.name, messageOf(error))
      throw error
    }
  }
}

async function bringAbout(engine: Engine, run: Run, plan: Plan, effect: Effect): Promise<string> {
  const timeoutSeconds = effect.isInstant ? 0 : plan.verifyTimeoutSeconds
  const deadline = Date.now() + timeoutSeconds * 1000
  let renewed = Date.now()
  let applied = 0
  for (;;) {
    const missing = await effect.missing().catch(retryable)
    if (missing === undefined) return applied > 0 ? 'done' : 'was so already'
    if (effect.apply !== undefined && plan.mode === 'apply' && (applied === 0 || effect.isRepeated)) {
      await effect.apply(false)
      applied++
      continue
    }
    if (Date.now() >= deadline) {
      const hint =
        effect.apply !== undefined && plan.mode === 'observe'
          ? ' The plan is in mode observe: apply what render printed, then repeat.'
          : ''
      throw new TrafficError(
        'timeout',
        `${effect.name}${effect.isInstant ? '' : ` is not so after ${timeoutSeconds} s`}: ${missing}.${hint}`,
      )
    }
    if (Date.now() - renewed > LEASE_MS / 4) {
      await run.renew()
      renewed = Date.now()
    }
    await sleep(engine.pollMs)
  }
}

/** While waiting, an unreachable API is one more reason to wait. */
const retryable = (error: unknown): string => {
  if (error instanceof RetryableError) return error.message
  throw error
}

/** A shift that met trouble is paused; other work stays where it is and is taken up again by repeating the action. */
async function noteProblem(run: Run, error: unknown): Promise<void> {
  const isRefusal =
    error instanceof TrafficError && (error.trouble === 'gate' || ['draft', 'cleaned-up'].includes(run.row.state))
  if (isRefusal || run.row.problem === messageOf(error)) return
  const state: State = run.row.state === 'shifting' ? 'paused' : run.row.state
  await run.write('note', 'problem', messageOf(error), { state, problem: messageOf(error) }).catch(() => undefined)
}

export async function judgeGates(
  engine: Engine,
  row: SwitchRow,
  plan: Plan,
  outside: Pick<Outside, 'balancer'>,
): Promise<readonly GateResult[]> {
  const step = plan.steps[row.step]!
  if (row.verified_at === null)
    return step.gates.map(({ kind }) => ({ gate: kind, verdict: 'pending', message: 'the step is not verified yet' }))
  const until = new Date(row.verified_at.getTime() + step.dwellSeconds * 1000)
  const context = {
    ...{ database: engine.database, plan, since: row.verified_at, until, isApproved: row.approved_at !== null },
    health: () => outside.balancer.health(row.target_group_arn ?? plan.targetGroup.arn ?? ''),
  }
  return Promise.all(step.gates.map((gate) => judgeGate(gate, context)))
}

async function passGates(work: Work): Promise<void> {
  const { engine, run, plan, outside, request } = work
  const step = plan.steps[run.row.step]!
  const results = await judgeGates(engine, run.row, plan, outside)
  for (const result of results) await run.write('gate', result.gate, `${result.verdict}: ${result.message}`)
  const describe = (list: readonly GateResult[]) =>
    list.map(({ gate, verdict, message }) => `${gate} ${verdict}: ${message}`).join('; ')
  if (request.overrideGates === true) return
  const failed = results.filter(({ verdict }) => verdict === 'fail')
  if (failed.length > 0) {
    const message = `Gate of step ${run.row.step} failed: ${describe(failed)}.`
    if (step.onFail === 'rollback') {
      await run.write('note', 'gate-failed', message)
      await rollBack(work)
      throw new TrafficError('gate', `${message} Traffic was rolled back.`)
    }
    if (run.row.state === 'shifting') await enter(run, 'paused', { problem: message })
    throw new TrafficError('gate', `${message} The switch is paused.`)
  }
  const left = run.row.verified_at!.getTime() + step.dwellSeconds * 1000 - engine.now().getTime()
  if (left > 0)
    throw new TrafficError('gate', `Step ${run.row.step} dwells for ${Math.ceil(left / 1000)} more seconds.`)
  const open = results.filter(({ verdict }) => verdict !== 'pass')
  if (open.length > 0) throw new TrafficError('gate', `Step ${run.row.step} may not go on: ${describe(open)}.`)
}

/** Somebody looked and says yes to the step that is in force. */
export async function approve(engine: Engine, id: string, actor: string, reason?: string): Promise<SwitchRow> {
  const run = await startRun(engine.database, id, 'approve', actor)
  try {
    await run.write('note', 'approved', reason, { approved_at: engine.now() })
  } finally {
    await run.end()
  }
  return getSwitch(engine.database, id)
}
