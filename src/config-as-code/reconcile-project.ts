import { isDeepStrictEqual } from 'node:util'
import { hintOf } from '../basics/nearest.ts'
import { readBlueprints } from '../control-plane/blueprints/blueprint-rows.ts'
import { checkSchedule } from '../control-plane/blueprints/cron.ts'
import { metricsOf as knownMetrics } from '../control-plane/plan/metric-plans.ts'
import { parsePlan } from '../control-plane/plan/parse-plan.ts'
import { PLAN_FIELDS, type PlanField } from '../control-plane/plan/stored-plans.ts'
import type { Blueprint, BlueprintConnection, Metric } from '../control-plane/records.ts'
import { selectRows } from '../control-plane/store.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import { blueprints } from '../system/projects.ts'
import { change, type State } from './change.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import type { ProjectConfig } from './document.ts'
import { type ConnectionNames, planFromFile } from './portable-plans.ts'
import type { KnownConnection } from './reconcile-connection.ts'
import { type Collected, type GivenConfigs, reconcileScopes } from './reconcile-scopes.ts'
import { bySource, comingAndGoing, inParts, scheduleWords } from './schedule-words.ts'
import { type ConnectionSelectors, readSelectors, saveSelectors } from './stored-selectors.ts'
import { requireHidden } from './variables.ts'

export async function reconcileProject(
  reconciling: Reconciling,
  path: Path,
  config: ProjectConfig,
  known: {
    readonly connections: ReadonlyMap<string, KnownConnection>
    readonly given: GivenConfigs
    readonly names: ConnectionNames
  },
): Promise<void> {
  const { projects } = reconciling.services
  const { file, templates } = reconciling.config
  const name = String(path.at(-1))
  const plans: Plans = {}
  for (const each of PLAN_FIELDS) {
    requireHidden(file, templates, [...path, each], config[each])
    const parsed = () =>
      config[each] && planFromFile(parsePlan(reconciling.control.plugins, config[each], each), known.names)
    plans[each] = await file.at([...path, each], parsed)
  }
  if (!isManual(config)) await file.at([...path, 'schedule'], () => checkSchedule(config.schedule))
  if (config.plan && config.collect.length > 0) {
    throw file.refusal(
      [...path, 'collect'],
      'a project has either collect or a plan of its own: leave one of them out.',
    )
  }
  const isNew = !(await projects.exists(name))
  const { description } = config
  const metrics = metricsOf(reconciling, path, config)
  const blueprint = plans.plan && { mode: 'ADVANCED' as const, plan: plans.plan }
  await change(reconciling, {
    subject: `project ${name}`,
    async read() {
      if (!(await projects.exists(name))) return undefined
      const project = await projects.get(name)
      return { description: project.description, metrics: metricNames(project.metrics) }
    },
    write: () =>
      isNew
        ? projects.create({ name, description, metrics, ...(blueprint && { blueprint }) })
        : projects.update(name, { description, metrics }),
  })
  const collected = await reconcileScopes(reconciling, path, config, known)
  await reconcileBlueprint(reconciling, path, config, plans, { collected, names: known.names })
}

const isManual = ({ schedule }: ProjectConfig) => schedule.trim().toLowerCase() === 'manual'
/** Plans as they are stored. Undefined: the file does not contain the plan. */
type Plans = { [Field in PlanField]?: Plan | null | undefined }

async function reconcileBlueprint(
  reconciling: Reconciling,
  path: Path,
  config: ProjectConfig,
  plans: Plans,
  { collected, names }: { readonly collected: readonly Collected[]; readonly names: ConnectionNames },
): Promise<void> {
  const { services, database, control } = reconciling
  const naming = { services, names }
  const name = String(path.at(-1))
  const stored = async () => {
    const rows = await selectRows(database.kysely, blueprints, (query) => query.where('project_name', '=', name))
    const [blueprint] = await readBlueprints(database.kysely, rows, control.secrets)
    return blueprint
  }
  const before = await stored()
  // An export has these values for a project whose blueprint was deleted. For a new project, the blueprint exists by now.
  if (!before && !config.enable && isManual(config) && collected.length === 0 && !config.plan) return
  const isAdvanced = (before?.mode ?? (config.plan ? 'ADVANCED' : 'NORMAL')) === 'ADVANCED'
  if (isAdvanced && collected.length > 0) {
    const { file } = reconciling.config
    throw file.refusal(
      [...path, 'collect'],
      `project ${name} runs a plan of its own: give it as plan, without collect.`,
    )
  }
  if (!isAdvanced && config.plan) {
    const { file } = reconciling.config
    throw file.refusal(
      [...path, 'plan'],
      `project ${name} collects through connections and cannot change to a plan: delete its blueprint first.`,
    )
  }
  const selectors = selectorsOf(collected)
  const wanted = wantedOf(config, plans, collected, isAdvanced)
  const storedSelectors = before ? await readSelectors(database, before.id) : []
  const known = before && stateOf(before, storedSelectors)
  if (known && isSettled(known, { ...wanted, selectors: isAdvanced ? [] : selectors })) return
  await change(reconciling, {
    subject: `schedule of ${name}`,
    async read() {
      const blueprint = await stored()
      return blueprint && stateOf(blueprint, await readSelectors(database, blueprint.id))
    },
    async write() {
      const { id } = before
        ? await services.blueprints.update(before.id, wanted)
        : await services.blueprints.create({ ...wanted, name: `${name}-Blueprint`, projectName: name })
      if (!isAdvanced) await saveSelectors(database, id, selectors)
    },
    show: await scheduleWords(naming, [...storedSelectors, ...selectors]),
    notes: (was, is) => comingAndGoing(naming, name, was, is),
  })
}

function wantedOf(config: ProjectConfig, plans: Plans, collected: readonly Collected[], isAdvanced: boolean) {
  const { enable, schedule, timeAfter, skipOnFail, priority, labels, skipCollectors, fullSync } = config
  const { plan, beforePlan, afterPlan } = plans
  const connections: BlueprintConnection[] = collected
    .filter(({ connection, scopeIds }) => connection.owner.pushSource || scopeIds.length > 0)
    .map(({ connection, scopeIds }) => ({
      pluginName: connection.owner.name,
      connectionId: connection.id,
      scopes: scopeIds.map((scopeId) => ({ scopeId })),
    }))
  return {
    enable,
    isManual: isManual(config),
    ...(!isManual(config) && { cronConfig: schedule }),
    ...(timeAfter !== undefined && { timeAfter }),
    skipOnFail,
    priority,
    labels: [...labels].sort(),
    ...(isAdvanced ? plan && { mode: 'ADVANCED' as const, plan } : { connections }),
    ...(beforePlan !== undefined && { beforePlan }),
    ...(afterPlan !== undefined && { afterPlan }),
    ...(skipCollectors !== undefined && { skipCollectors }),
    ...(fullSync !== undefined && { fullSync }),
  }
}

const selectorsOf = (collected: readonly Collected[]): ConnectionSelectors[] =>
  collected
    .filter(({ selectors }) => selectors.length > 0)
    .map(({ connection, selectors }) => ({ plugin: connection.owner.name, connectionId: connection.id, selectors }))

/** Returns all of a blueprint that a file can contain. The plan of mode NORMAL follows from the rest. */
function stateOf(blueprint: Blueprint, selectors: readonly ConnectionSelectors[]): State {
  const { enable, isManual, cronConfig, timeAfter, skipOnFail, priority, labels, mode, plan, connections } = blueprint
  const { beforePlan, afterPlan, skipCollectors, fullSync } = blueprint
  return {
    enable,
    isManual,
    cronConfig,
    timeAfter,
    skipOnFail,
    priority,
    labels,
    skipCollectors,
    fullSync,
    beforePlan,
    afterPlan,
    plan: mode === 'ADVANCED' ? plan : null,
    ...inParts(connections),
    selectors: bySource(selectors),
  }
}

interface Wanted extends State {
  readonly connections?: readonly BlueprintConnection[]
  readonly selectors: readonly ConnectionSelectors[]
}

/** Avoids writing thousands of scopes that are already there. */
function isSettled(known: State, wanted: Wanted): boolean {
  const { mode: _mode, connections, selectors, ...rest } = wanted
  const state = {
    ...rest,
    ...(connections && inParts(connections)),
    selectors: bySource(selectors),
  }
  return Object.entries(state).every(([name, value]) => isDeepStrictEqual(known[name], value))
}

function metricsOf({ config: { file }, control }: Reconciling, path: Path, { metrics }: ProjectConfig): Metric[] {
  const known = knownMetrics(control.plugins)
  const all = new Map<string, Metric>()
  for (const [index, each] of metrics.entries()) {
    for (const [pluginName, pluginOption] of Object.entries(typeof each === 'string' ? { [each]: {} } : each)) {
      const place = [...path, 'metrics', index]
      if (all.has(pluginName)) throw file.refusal(place, `${pluginName} is named twice: remove one.`)
      if (!known.has(pluginName)) {
        throw file.refusal(place, `there is no metric ${pluginName}${hintOf(pluginName, known.keys())}`)
      }
      all.set(pluginName, { pluginName, pluginOption, enable: true })
    }
  }
  return [...all.values()]
}
const metricNames = (metrics: readonly Metric[]) =>
  metrics
    .filter(({ enable }) => enable)
    .map(({ pluginName, pluginOption }) => `${pluginName} ${JSON.stringify(pluginOption || {})}`)
    .sort()
