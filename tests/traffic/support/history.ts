import fc from 'fast-check'
import { expect } from 'vitest'
import { connect } from '../../../src/traffic/engine/connect.ts'
import { act } from '../../../src/traffic/engine/engine.ts'
import type { Engine, Request } from '../../../src/traffic/engine/engine-types.ts'
import type { SwitchRow } from '../../../src/traffic/engine/store.ts'
import { tick } from '../../../src/traffic/engine/watch.ts'
import { actionKey } from '../../../src/traffic/model/action.ts'
import type { RoutePlan } from '../../../src/traffic/model/plan.ts'
import { ElbError } from '../../fake-aws/fake-elbv2.ts'
import { type setStage, times } from './stage.ts'

type Stage = ReturnType<typeof setStage>

/** One thing that a person or a fault does to a switch that is under way. */
export type Operation =
  | readonly ['act', 'advance' | 'pause' | 'rollback' | 'abort' | 'prepare']
  | readonly ['kill', 'advance' | 'rollback' | 'abort', number]
  | readonly ['advance and rollback', number]
  | readonly ['two operators']
  | readonly ['cluster faults', number, number]
  /** The last number here and below is the place of the only route that is affected. */
  | readonly ['refused writes', number, number, number]
  | readonly ['cluster away', boolean]
  | readonly ['throttled', number]
  | readonly ['drift', (typeof DRIFTS)[number], number]
  | readonly ['health', 'healthy' | 'unhealthy' | 'draining', number]
  | readonly ['controller', boolean]
  /** Weights that somebody sets in the AWS console. */
  | readonly ['hand-made weights', number, number]
  /** Minutes by which the actor's clock is wrong from now on. */
  | readonly ['clock', number]
  | readonly ['watch']

const DRIFTS = ['foreign action', 'no annotation', 'original backend', 'sticky rule', 'new path'] as const

const place = fc.nat({ max: 2 })

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.tuple(
      fc.constant('act'),
      fc.constantFrom('advance', 'advance', 'advance', 'pause', 'rollback', 'abort', 'prepare'),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constant('kill'), fc.constantFrom('advance', 'rollback', 'abort'), fc.nat({ max: 24 })),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant('advance and rollback'), fc.nat({ max: 40 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('two operators')) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant('cluster faults'), fc.constantFrom(429, 503, 401), fc.integer({ min: 1, max: 4 })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant('refused writes'),
      fc.constantFrom(503, 403),
      fc.integer({ min: 1, max: 4 }),
      place,
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('cluster away'), fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('throttled'), fc.integer({ min: 1, max: 5 })) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('drift'), fc.constantFrom(...DRIFTS), place) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('health'), fc.constantFrom('healthy', 'unhealthy', 'draining'), place) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('controller'), fc.constantFrom(true, true, false)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('hand-made weights'), fc.constantFrom(0, 30, 70, 100), place) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('clock'), fc.constantFrom(-120, 0, 120)) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('watch')) },
) as fc.Arbitrary<Operation>

/** An engine that stops forever after this many calls to the outside, like a process that is killed. */
export function dying(engine: Engine, calls: number): { engine: Engine; died: Promise<'died'> } {
  let left = calls
  let die = (_: 'died'): void => {}
  const died = new Promise<'died'>((resolve) => (die = resolve))
  const guarded = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(object, name) {
        const value = Reflect.get(object, name)
        if (typeof value === 'object' && value !== null) return guarded(value)
        if (typeof value !== 'function') return value
        return (...call: unknown[]) => {
          if (left-- > 0) return value.apply(object, call)
          die('died')
          return new Promise(() => {})
        }
      },
    })
  return { engine: { ...engine, connect: async (...call) => guarded(await connect(...call)) }, died }
}

/** Returns all weights with which load balancers send traffic to the target now, on all routes or on the given ones. */
export function targetWeights(stage: Stage, routes: readonly RoutePlan[] = stage.world.routes): readonly number[] {
  const arns = new Set(routes.map((route) => stage.group(route)?.arn))
  return [...stage.world.elb.rules.values()].flatMap(({ action }) =>
    'groups' in action
      ? action.groups.flatMap((group) => (arns.has(group.arn) && group.weight > 0 ? [group.weight] : []))
      : [],
  )
}

const isSticky = (stage: Stage): boolean =>
  [...stage.world.elb.rules.values()].some(({ action }) => 'stickiness' in action && action.stickiness.enabled)

export interface History {
  readonly stage: Stage
  readonly row: SwitchRow
  freeLease(): Promise<unknown>
  isAway: boolean
  /** Paths that were added by hand and must stay. */
  readonly paths: { readonly route: RoutePlan; readonly path: string }[]
}

const routeAt = ({ stage: { world } }: History, number: number): RoutePlan =>
  world.routes[number % world.routes.length]!

/** Performs an operation. Whatever its answer is, the invariants must hold afterwards. */
export async function perform(history: History, step: Operation): Promise<void> {
  const { stage, row } = history
  const { world, engine } = stage
  const attempt = (action: Request['action'], by = engine) =>
    act(by, row.id, { action, actor: 'ada', ...(action === 'abort' ? stage.confirmed() : {}) }).catch(
      (error: Error) => error,
    )
  const holdsIfBack = (outcome: unknown): void => {
    if ((outcome as Partial<SwitchRow>).state !== 'rolled-back') return
    // Check when the rollback reports success, and again when the controller has read everything that is written.
    expect(targetWeights(stage), 'after a rollback that reports success').toEqual([])
    if (!world.currentController.isPaused) world.currentController.reconcile()
    expect(targetWeights(stage), 'later').toEqual([])
    expect(isSticky(stage)).toBe(false)
  }
  switch (step[0]) {
    case 'act':
      return step[1] === 'advance' ? advance(history, () => attempt('advance')) : holdsIfBack(await attempt(step[1]))
    case 'kill': {
      const { engine: mortal, died } = dying(engine, step[2])
      await Promise.race([attempt(step[1], mortal), died])
      return void (await history.freeLease())
    }
    case 'advance and rollback': {
      const advancing = attempt('advance')
      for (let turn = 0; turn < step[1]; turn++) await new Promise(setImmediate)
      const outcome = await attempt('rollback')
      await advancing
      return holdsIfBack(outcome)
    }
    case 'two operators':
      return void (await Promise.all([attempt('advance'), attempt('advance')]))
    case 'watch':
      return watch(history)
    default:
      return change(history, step)
  }
}

/** Runs the watch. If it can see everything, weight for a route without healthy targets must be removed or reported. */
async function watch({ stage, row, isAway }: History): Promise<void> {
  const seen = await tick(stage.engine, row.id).catch((error: Error) => error)
  if (seen instanceof Error || isAway) return
  for (const route of stage.world.routes) {
    const healthy = [...(stage.group(route)?.targets.values() ?? [])].filter((state) => state === 'healthy').length
    if (targetWeights(stage, [route]).length > 0 && healthy === 0)
      expect((await stage.now(row)).problem, 'weight without healthy targets needs an alarm').not.toBeNull()
  }
}

function change(history: History, step: Operation): void {
  const { stage } = history
  const { world } = stage
  if (step[0] === 'cluster faults') world.current.intercept = times(step[2], step[1])
  if (step[0] === 'refused writes') {
    const fault = times(step[2], step[1])
    const own = routeAt(history, step[3]).current.ingress.name
    world.current.intercept = (method, _kind, name) => (method === 'PATCH' && name === own ? fault() : undefined)
  }
  if (step[0] === 'hand-made weights') stage.setWeights(100 - step[1], step[1], routeAt(history, step[2]))
  if (step[0] === 'clock')
    stage.engine = { ...stage.engine, now: () => new Date(stage.clock.getTime() + step[1] * 60_000) }
  if (step[0] === 'throttled') world.elb.intercept = times(step[1], new ElbError('Throttling', 'Rate exceeded'))
  if (step[0] === 'health' && stage.group(routeAt(history, step[2])) !== undefined)
    stage.setHealth(step[1], routeAt(history, step[2]))
  if (step[0] === 'controller') {
    world.currentController.isPaused = step[1]
    world.currentController.reconcile()
  }
  if (step[0] === 'cluster away') {
    history.isAway = step[1]
    world.current.intercept = () => (history.isAway ? 503 : undefined)
  }
  if (step[0] === 'drift') drift(history, step[1], routeAt(history, step[2]))
}

/** Checks that a step never overwrites rules that somebody changed by hand. */
async function advance(history: History, attempt: () => Promise<unknown>): Promise<void> {
  const { stage, row } = history
  const before = stage.weights()
  const { state, step } = await stage.now(row)
  const plan = stage.world.whole
  const ofSteps = [step - 1, step, step + 1].flatMap((each) => plan.steps[each]?.weights ?? [])
  const foreign = Object.entries(before).filter(
    ([, weights]) =>
      weights !== undefined && !ofSteps.some(({ current, target }) => current === weights[0] && target === weights[1]),
  )
  await attempt()
  if (!['prepared', 'shifting', 'paused'].includes(state)) return
  const after = await stage.now(row)
  // A rollback overwrites everything.
  if (after.state === 'rolled-back' || after.state === 'rolling-back') return
  for (const [route, weights] of foreign) expect([route, stage.weights()[route]]).toEqual([route, weights])
}

export const pathOf = (route: RoutePlan, path: string) => ({
  path,
  pathType: 'Prefix',
  backend: { service: { name: route.current.service.name, port: { number: 80 } } },
})

function drift(history: History, kind: (typeof DRIFTS)[number], route: RoutePlan): void {
  const { stage } = history
  const key = actionKey(route.actionName)
  const { name, path } = route.current.ingress
  const edit = (change: (object: any) => void) => stage.edit(change, 'Ingress', name)
  const action = stage.ingress(name).metadata.annotations[key]
  if (kind === 'foreign action' && action !== undefined)
    edit((object) => (object.metadata.annotations[key] = action.replace(/"weight":\d+/, '"weight":7')))
  if (kind === 'no annotation') edit((object) => delete object.metadata.annotations[key])
  if (kind === 'original backend')
    edit(({ spec }) =>
      Object.assign(
        spec.rules[0].http.paths.find((each: any) => each.path === path),
        pathOf(route, path),
      ),
    )
  if (kind === 'new path') {
    history.paths.push({ route, path: `/p${history.paths.length}` })
    edit(({ spec }) => spec.rules[0].http.paths.push(pathOf(route, history.paths.at(-1)!.path)))
  }
  if (kind === 'sticky rule')
    for (const rule of stage.world.elb.rules.values())
      if ('groups' in rule.action && rule.action.groups.length > 1)
        rule.action = { ...rule.action, stickiness: { enabled: true, durationSeconds: 60 } }
}
