import { afterEach, beforeAll, beforeEach } from 'vitest'
import { migrate } from '../../../src/database/migrate.ts'
import { allTables } from '../../../src/tables.ts'
import { connect } from '../../../src/traffic/engine/connect.ts'
import { act } from '../../../src/traffic/engine/engine.ts'
import type { Engine, Request } from '../../../src/traffic/engine/engine-types.ts'
import { createSwitch, getSwitch, journalOf, type SwitchRow } from '../../../src/traffic/engine/store.ts'
import { actionKey } from '../../../src/traffic/model/action.ts'
import type { RoutePlan } from '../../../src/traffic/model/plan.ts'
import type { FakeGroup } from '../../fake-aws/fake-elbv2.ts'
import type { TestDatabase } from '../../support/databases.ts'
import { putEnvironmentBack } from '../../support/environment.ts'
import { type Routes, startWorld, type World } from './world.ts'

const TOUCHED =
  /^(?:_weir_traffic_|_weir_alert|cicd_|project_mapping$|incidents$|_devlake_pipelines$|_devlake_blueprints$)/

/** Starts one world and one engine per test, and returns the functions with which tests describe their scenes. */
export function setStage(database: TestDatabase, startCluster?: Parameters<typeof startWorld>[2]) {
  const saved = { ...process.env }
  const stage = {
    world: undefined as unknown as World,
    engine: undefined as unknown as Engine,
    clock: new Date(),
    async start(change: (plan: RoutePlan) => void = () => {}, routesIn?: Routes): Promise<SwitchRow> {
      stage.world = await startWorld(change, routesIn, startCluster)
      Object.assign(process.env, stage.world.environment)
      // Clocks agree until a test says otherwise.
      stage.world.elb.now = stage.world.route53.now = () => stage.clock
      return createSwitch(database.database, stage.world.whole, 'ada')
    },
    go: (row: SwitchRow, action: Request['action'], more: Partial<Request> = {}) =>
      act(stage.engine, row.id, { action, actor: 'ada', ...more }),
    /** Prepares the switch and advances it by this many steps. */
    async shift(row: SwitchRow, steps: number): Promise<void> {
      await stage.go(row, 'prepare')
      for (let step = 0; step < steps; step++) await stage.go(row, 'advance')
    },
    now: (row: SwitchRow) => getSwitch(database.database, row.id),
    journal: (row: SwitchRow) => journalOf(database.database, row.id),
    deployments: ({ id }: SwitchRow) =>
      database.database.kysely.selectFrom('cicd_deployments').selectAll().where('_raw_data_remark', '=', id).execute(),
    ingress: (name = 'web') => stage.world.current.get('Ingress', 'shop', name)!,
    /** Edits an object as a person with kubectl does. */
    edit: (change: (object: any) => void, kind = 'Ingress', name = 'web') => {
      const object = structuredClone(stage.world.current.get(kind, 'shop', name)!)
      change(object)
      stage.world.current.seed(object, 'kubectl-edit')
    },
    setAction: (text: string) =>
      stage.edit((object) => {
        object.metadata.annotations[actionKey('web-switch')] = text
      }),
    group: (route?: RoutePlan): FakeGroup =>
      [...stage.world.elb.groups.values()].find(({ name }) => name === (route ?? stage.world.plan).targetGroup.name)!,
    setHealth(state: 'healthy' | 'unhealthy' | 'draining', route?: RoutePlan): void {
      for (const target of stage.group(route).targets.keys()) stage.group(route).targets.set(target, state)
    },
    /** Sets weights as somebody does in the AWS console, in the rules that forward to both groups of a route. */
    setWeights(current: number, target: number, route?: RoutePlan): void {
      const arn = stage.group(route)?.arn
      for (const rule of stage.world.elb.rules.values()) {
        const groups = 'groups' in rule.action ? rule.action.groups : []
        if (groups.length > 1 && groups.some((each) => each.arn === arn))
          rule.action = {
            ...rule.action,
            groups: groups.map((each) => ({ ...each, weight: each.arn === arn ? target : current })),
          }
      }
    },
    /** [others, target] of each route, by its name. */
    weights: (): Record<string, readonly [number, number] | undefined> =>
      Object.fromEntries(stage.world.routes.map((own) => [own.route?.name ?? '', stage.world.liveWeights(own)])),
    async end() {
      await database.database.kysely.deleteFrom('_weir_traffic_claims').execute()
      putEnvironmentBack(saved)
      await stage.world.close()
    },
    confirmed: () => ({ confirm: stage.world.plan.name, skipQuiet: true, reason: 'test' }),
  }
  // A switch uses only a dozen of about three hundred tables.
  beforeAll(() =>
    migrate(
      database.database,
      allTables.filter(({ name }) => TOUCHED.test(name)),
    ),
  )
  beforeEach(() => {
    stage.clock = new Date('2026-11-15T12:00:00Z')
    stage.engine = { database: database.database, connect, now: () => stage.clock, pollMs: 3 }
  })
  afterEach(() => stage.end())
  return stage
}

/** Returns a fault for the first `count` requests. */
export function times<Fault>(count: number, fault: Fault): () => Fault | undefined {
  let left = count
  return () => (left-- > 0 ? fault : undefined)
}

export const withGates = (plan: RoutePlan): void => {
  for (const step of plan.steps) {
    step.onFail = 'rollback'
    if (step.weights.target > 0)
      step.gates = [{ kind: 'targetsHealthy', minHealthy: 1, minRatio: 0.9, failureLimit: 3 }]
  }
}
