import { counted } from '../../basics/counted.ts'
import { messageOf, RetryableError } from '../../errors.ts'
import { NothingHealthy } from '../effects/balancer-effects.ts'
import { contextsOf } from '../effects/contexts.ts'
import { leadsTo } from '../effects/dns-effect.ts'
import { isNameMoved } from '../effects/dns-record-effects.ts'
import type { EffectContext, Outside } from '../effects/effect.ts'
import {
  abortEffects,
  cleanupEffects,
  directStep,
  givenUpEffects,
  namesBackSequences,
  preflightEffects,
  prepareEffects,
  rollbackSequences,
  stepEffects,
} from '../effects/sequences.ts'
import { lintPlan } from '../lint/plan.ts'
import { refuseErrors, TrafficError } from '../model/finding.ts'
import { answerOf, type Plan } from '../model/plan.ts'
import { type Action, isOver, type State, transitionOf } from '../model/state.ts'
import { ended, flagOf, SKIPS, skipping } from '../model/words.ts'
import { runAccompanied, withGoodNews } from './accompany.ts'
import { alarmOf } from './alarm.ts'
import { askTime, onAwsTime, rulesSeenAt } from './aws-time.ts'
import { EffectTimeout, runEffects, type Scope, sideBySide } from './bring-about.ts'
import { claimRoutes, ownsRoutes, releaseAction } from './claims.ts'
import type { Engine, Request } from './engine-types.ts'
import { passGates } from './gate-verdicts.ts'
import { moveNames } from './move-names.ts'
import { requireQuiet } from './quiet.ts'
import { recordDeployment } from './record-deployment.ts'
import { forgottenWays, hasLostMemory, lostMemory } from './route-memory.ts'
import { withRoutes } from './route-report.ts'
import { deletesIngress, mayDelete, neededByOthers } from './shared-ingress.ts'
import { getSwitch, isLeased, type Run, type SwitchChanges, type SwitchRow, startRun } from './store.ts'
import { checkedPlanOf, planOf } from './stored-plan.ts'

/** Everything that one action of one run needs. It is made once and handed to every step. */
interface Work {
  readonly engine: Engine
  readonly run: Run
  readonly plan: Plan
  readonly outside: Outside
  readonly request: Request
  readonly scope: Scope
  /** One for each route. */
  readonly contexts: readonly EffectContext[]
}

/** Carries one action out, or continues where a killed process stopped. */
export async function act(engine: Engine, id: string, request: Request): Promise<SwitchRow> {
  const skipped = SKIPS.filter((name) => request[name] === true)
  if (skipped.length > 0 && !request.reason)
    throw new TrafficError(
      'invalid',
      `${skipped.map(flagOf).join(' and ')} ${skipped.length === 1 ? 'skips' : 'skip'} a check: say why with --reason.`,
    )
  const isRollback = request.action === 'rollback'
  if (isRollback) transitionOf((await getSwitch(engine.database, id)).state, 'rollback')
  // Every journal entry makes a new version. Whoever rolls back must not lose a race against what is going wrong.
  const run = await startRun(engine.database, id, request.action, request.actor, {
    expectedVersion: isRollback ? undefined : request.expectedVersion,
    // A repeated rollback joins the process that is already working on one, instead of taking the switch from it.
    takesOver: isRollback && request.isRepeated !== true,
  })
  try {
    const plan = await planFor(run, request.action)
    transitionOf(run.row.state, request.action)
    refusePastController(plan, request)
    if (request.isRepeated === true && run.row.state === 'paused')
      throw new TrafficError('conflict', `Switch ${id} was paused meanwhile: ${run.row.problem}. It waits no longer.`)
    if (isRollback && request.reason && !run.has('note', 'reason')) await run.write('note', 'reason', request.reason)
    if (skipped.length > 0 && !run.has('note', skipped.join(',')))
      await run.write('note', skipped.join(','), request.reason)
    await perform(engine, run, plan, request)
  } finally {
    await run.end()
  }
  return getSwitch(engine.database, id)
}

/** Another writer of the Ingress, a repository or a person, would set the rules back. */
function refusePastController({ mode }: Plan, { action, directly }: Request): void {
  if (directly !== true || action !== 'advance' || mode === 'apply') return
  throw new TrafficError(
    'invalid',
    `${flagOf('directly')} needs a plan in mode apply; this one is in mode ${mode}. Wait until the controller is back and advance again, or roll back.`,
  )
}

/** Actions that hold traffic or remove things use the plan that was carried out. Only moving on needs a plan that nobody edited. */
async function planFor(run: Run, action: Action): Promise<Plan> {
  const isLost = hasLostMemory(run.row)
  if (action !== 'rollback' && action !== 'pause' && action !== 'abort') {
    if (isLost) throw new TrafficError('conflict', lostMemory(run.row.id))
    return planOf(run.row)
  }
  const { plan, isEdited } = checkedPlanOf(run.row)
  if (isLost && !run.has('note', 'routes-lost')) await run.write('note', 'routes-lost', run.row.routes ?? '')
  if (isEdited && !run.has('note', 'plan-edited'))
    await run.write('note', 'plan-edited', 'The stored plan was changed by hand; the one that was checked is used.')
  return plan
}

async function perform(engine: Engine, run: Run, plan: Plan, request: Request): Promise<void> {
  const { state } = run.row
  if (request.action === 'pause') return enter(run, 'paused', { problem: request.reason ?? 'paused by hand' })
  const isUntouched = state === 'draft' || (state === 'rolled-back' && !(await ownsRoutes(engine.database, run.row.id)))
  if (isUntouched && request.action === 'rollback') return enter(run, 'rolled-back')
  if (request.action === 'cleanup' || request.action === 'abort') requireConfirmation(plan, request)
  if (state === 'draft' && request.action === 'abort') return enter(run, 'aborted')
  if (request.action === 'prepare') refuseErrors('The plan', lintPlan(plan))
  const outside = await engine.connect(plan, request.action === 'rollback')
  outside.git?.guardWith(() => run.renew())
  const timed = onAwsTime(engine, outside)
  const contexts = contextsOf(plan, outside, () => run.row, {
    progress: engine.progress,
    now: timed.now,
    tookOver: isLeased(run.row),
    overridesDrift: request.acceptLive === true || request.action === 'rollback',
  })
  const scope: Scope = { plan, outside, overridden: contexts[0]!.overridden, progress: engine.progress }
  const work: Work = { engine: timed, run, plan, outside, request, scope, contexts }
  try {
    if (JUDGES_TIME.has(request.action)) await askTime(engine, run, scope, contexts[0]!)
    await PERFORM[request.action](work).catch(async (error: unknown) => {
      throw await withRoutes(contexts, run.row.state, error)
    })
  } catch (error) {
    // Recorded only from here on: whoever may not act, or cannot even connect, leaves the switch as it is.
    await noteProblem(run, error)
    throw error
  }
}

/** Actions that check whether a waiting time is over, or begin one. */
const JUDGES_TIME: ReadonlySet<Action> = new Set(['advance', 'dns', 'cleanup'])

const PERFORM: Readonly<Record<Exclude<Action, 'pause'>, (work: Work) => Promise<void>>> = {
  async prepare({ engine, run, plan, outside, scope, contexts }) {
    await claimRoutes(engine.database, plan, run.row.id)
    if (run.row.state !== 'preparing') {
      // Checked before the first state change: a plan that does not fit leaves no trace.
      await runEffects(engine, run, scope, preflightEffects(contexts)).catch(async (error: unknown) => {
        if (run.row.state === 'draft') await releaseAction(engine.database, run.row.id)
        throw error
      })
      await enter(run, 'preparing', { problem: null, began_at: null })
    }
    await runEffects(engine, run, scope, prepareEffects(contexts))
    await enter(run, 'prepared', {
      step: 0,
      verified_at: rulesSeenAt(engine, outside),
      approved_at: null,
      problem: null,
    })
  },
  async advance(work) {
    const { engine, run, plan, outside, contexts, request } = work
    if (request.overrideGates !== true) {
      // Health that cannot be read at the moment is asked for again before the step is written.
      const alarm = await alarmOf(engine, contexts).catch((error: unknown) => {
        if (!(error instanceof RetryableError)) throw error
      })
      if (alarm?.isNothingHealthy) return failStep(work, alarm.text, true)
    }
    if (run.row.verified_at === null) return shiftTo(work, run.row.step)
    const failure = await passGates(engine, run, plan, outside, request.overrideGates === true)
    if (failure !== undefined) return failStep(work, failure)
    const next = run.row.step + 1
    if (next < plan.steps.length) return shiftTo(work, next)
    // With a path that was added meanwhile, or a rule that AWS refused, the switch must not be called switched.
    await runStep(work, run.row.step)
    await recordDeployment(engine.database, run.row, plan, 'SUCCESS', engine.now())
    await enter(run, 'switched', { problem: null })
  },
  async rollback(work) {
    await rollBack(work)
  },
  async dns({ engine, run, scope, contexts, request }) {
    await moveNames(engine, run, scope, contexts, request.uncheckedDns !== true)
    // The quiet time begins now, however long the move took.
    await askTime(engine, run, scope, contexts[0]!)
    await enter(run, 'dns-switched', { dns_confirmed_at: engine.now(), problem: null })
  },
  async cleanup(work) {
    const { engine, run, plan, outside, request } = work
    const confirmed = run.row.dns_confirmed_at?.getTime()
    const left = confirmed === undefined ? 0 : confirmed + plan.dns.quietMinutes * 60_000 - engine.now().getTime()
    if (run.row.state === 'dns-switched' && left > 0 && request.skipQuiet !== true) {
      throw new TrafficError(
        'gate',
        `Wait ${counted(Math.ceil(left / 60_000), 'more minute')} after the DNS switch: resolvers and long connections still use the old load balancer. --wait waits; ${skipping('skipQuiet')} does not. The plan has ${counted(plan.dns.quietMinutes, 'minute')} as dns.quietMinutes.`,
      )
    }
    if (run.row.state === 'dns-switched' && request.skipQuiet !== true) await requireQuiet(engine, plan, outside)
    await cleanUp(work)
  },
  abort: cleanUp,
}

async function shiftTo(work: Work, step: number): Promise<void> {
  const { engine, run, plan, outside } = work
  const movesTraffic = plan.steps[step]!.weights.target > 0
  if (run.row.state !== 'shifting' || run.row.step !== step || run.row.verified_at !== null) {
    const began = run.row.began_at ?? (movesTraffic ? engine.now() : null)
    await enter(run, 'shifting', { step, verified_at: null, approved_at: null, problem: null, began_at: began })
  }
  try {
    await runStep(work, step)
  } catch (error) {
    const isNothingHealthy = error instanceof NothingHealthy
    const isSick = isNothingHealthy || (error instanceof EffectTimeout && error.effect === 'targets-healthy')
    if (isSick && answerOf(plan.steps[step]!, isNothingHealthy) === 'rollback')
      return failStep(work, ended(`Step ${step} failed: ${error.message}`), isNothingHealthy)
    throw error
  }
  await run.write('state', 'verified', { step }, { verified_at: rulesSeenAt(engine, outside), problem: null })
}

/** Bypasses a controller that does not follow only if the operator allowed it. */
const runStep = ({ engine, run, scope, contexts, request }: Work, step: number): Promise<void> =>
  request.directly === true
    ? runAccompanied(engine, run, scope, directStep(contexts, step))
    : runEffects(engine, run, scope, stepEffects(contexts, step))

/** Does what the step says about its failure, and reports it. */
async function failStep(work: Work, message: string, isNothingHealthy = false): Promise<never> {
  const { run, plan } = work
  if (answerOf(plan.steps[run.row.step]!, isNothingHealthy) === 'rollback') {
    await run.write('note', 'gate-failed', message)
    await rollBack(work)
    throw new TrafficError('gate', `${message} Traffic was rolled back.`)
  }
  if (run.row.state === 'shifting') await enter(run, 'paused', { problem: message })
  const where = run.row.state === 'prepared' ? 'No request moves; the switch stays prepared.' : 'The switch is paused.'
  throw new TrafficError('gate', `${message} ${where}`)
}

/** Takes the weights back first, whatever they are now; only then asks where the host name leads. */
async function rollBack({ engine, run, plan, scope, contexts, request }: Work): Promise<void> {
  const isDnsChecked = contexts.some(isNameMoved) && request.uncheckedDns !== true
  const strong = contexts.map((context) => ({ ...context, overridesDrift: true }))
  await enter(run, 'rolling-back')
  try {
    await sideBySide(rollbackSequences(strong).map((each) => runAccompanied(engine, run, scope, each)))
    const names = namesBackSequences(strong, isDnsChecked)
    await sideBySide(names.map((effects) => runEffects(engine, run, scope, effects)))
  } catch (error) {
    throw await withGoodNews(strong, error)
  }
  if (run.row.began_at !== null) await recordDeployment(engine.database, run.row, plan, 'FAILURE', engine.now())
  await enter(run, 'rolled-back', {
    step: 0,
    verified_at: null,
    // Already recorded: weights that come back later, and are taken back again, are no second deployment.
    began_at: null,
    dns_confirmed_at: null,
    ...forgottenWays(run.row),
    problem: null,
  })
}

/** Somebody may have moved the name back since it was confirmed, so an abort looks it up. */
async function isNameAtTarget({ run, request, contexts }: Work): Promise<boolean> {
  if (run.row.dns_confirmed_at === null) return false
  if (request.action !== 'abort') return true
  return (await Promise.all(contexts.map((context) => leadsTo(context, 'target')))).includes(true)
}

async function cleanUp(work: Work): Promise<void> {
  const { engine, run, plan, scope, contexts, request } = work
  // Before the DNS switch the current Ingress carries all traffic.
  const keepsIngress = !deletesIngress(plan, request) || run.row.dns_confirmed_at === null
  if (!keepsIngress) await runEffects(engine, run, scope, mayDelete(engine.database, run.row.id, contexts))
  const isAtTarget = await isNameAtTarget(work)
  // No rollback will end any more that would record it.
  if (run.row.state === 'rolling-back' && run.row.began_at !== null && !isAtTarget)
    await recordDeployment(engine.database, run.row, plan, 'FAILURE', engine.now())
  if (request.action === 'abort') await runEffects(engine, run, scope, givenUpEffects(contexts))
  await enter(run, 'cleaning', { problem: null })
  const effects =
    request.action === 'abort'
      ? abortEffects(contexts, await neededByOthers(engine.database, run.row.id))
      : cleanupEffects(contexts, keepsIngress)
  await runEffects(engine, run, scope, effects)
  await releaseAction(engine.database, run.row.id)
  // A clean-up may continue an abort that was killed. If the name never moved, the switch was aborted, not completed.
  if (isAtTarget) await enter(run, 'cleaned-up', { problem: null })
  else await enter(run, 'aborted', { problem: null, dns_confirmed_at: null })
}

function requireConfirmation(plan: Plan, request: Request): void {
  if (request.confirm === plan.name) return
  const ingress = deletesIngress(plan, request) ? ', and the current Ingress with its load balancer' : ''
  throw new TrafficError(
    'invalid',
    `This deletes the binding and the target group of ${plan.name}${ingress}. Confirm with the name of the plan: ${flagOf('confirm')} ${plan.name}`,
  )
}

async function enter(run: Run, state: State, changes: SwitchChanges = {}): Promise<void> {
  const isSame = Object.entries(changes).every(([name, value]) => run.row[name as keyof SwitchChanges] === value)
  if (run.row.state === state && isSame) return
  const { step = run.row.step } = changes
  await run.write('state', state, { before: run.row.state, after: state, step }, { ...changes, state })
}

/** Pauses a shift that met trouble. Other work stays where it is, and repeating the action continues it. */
async function noteProblem(run: Run, error: unknown): Promise<void> {
  const isRefusal =
    error instanceof TrafficError && (error.trouble === 'gate' || run.row.state === 'draft' || isOver(run.row.state))
  if (isRefusal || run.row.problem === messageOf(error)) return
  const state: State = run.row.state === 'shifting' ? 'paused' : run.row.state
  await run.write('note', 'problem', messageOf(error), { state, problem: messageOf(error) }).catch(() => undefined)
}

/** Records that somebody has looked and approves the step in force. */
export async function approve(engine: Engine, id: string, actor: string, reason?: string): Promise<SwitchRow> {
  const run = await startRun(engine.database, id, 'approve', actor)
  try {
    await run.write('note', 'approved', reason, { approved_at: engine.now() })
  } finally {
    await run.end()
  }
  return getSwitch(engine.database, id)
}
