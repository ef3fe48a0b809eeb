import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import { maskSecrets } from '../../secrets/secrets.ts'
import { blueprintLabels, blueprints, projects } from '../../system/projects.ts'
import { requireFinished } from '../guards.ts'
import { assumptionsOf } from '../plan/assumptions.ts'
import { planOf, requireReadable } from '../plan/blueprint-plan.ts'
import { parsePlan } from '../plan/parse-plan.ts'
import { restoreSecrets } from '../plan/plan-secrets.ts'
import { previewPlan } from '../plan/preview.ts'
import { LONGEST_LISTED, PLAN_FIELDS } from '../plan/stored-plans.ts'
import { unknownProject } from '../projects/unknown-project.ts'
import type { Blueprint, BlueprintChanges, NewBlueprint, Pipeline, SyncPolicy } from '../records.ts'
import { wantCalculation } from '../runs/wanted-calculations.ts'
import type { BlueprintService, ServiceContext } from '../services.ts'
import type { Listed } from '../store.ts'
import { findRow, type Queries, selectPage, selectRows } from '../store.ts'
import { ChangedError, isStale } from '../versions.ts'
import {
  blueprintRow,
  deleteBlueprint,
  joined,
  readBlueprints,
  setTick,
  storedBlueprint,
  type UnsavedBlueprint,
  unknownBlueprint,
  whileChanging,
  writeBlueprint,
} from './blueprint-rows.ts'
import { checkBlueprint } from './check-blueprint.ts'

const DEFAULTS: UnsavedBlueprint = {
  name: '',
  projectName: '',
  mode: 'NORMAL',
  plan: [],
  enable: true,
  cronConfig: '',
  isManual: false,
  beforePlan: null,
  afterPlan: null,
  labels: [],
  connections: [],
  priority: 0,
  // One repository that cannot be cloned must not stop the others from being measured.
  skipOnFail: true,
  timeAfter: null,
  skipCollectors: false,
  fullSync: false,
}
const FIELDS = Object.keys(DEFAULTS) as (keyof UnsavedBlueprint)[]

const CRON_OF = { DAILY: '0 0 * * *', WEEKLY: '0 0 * * 1', MONTHLY: '0 0 1 * *' }

/** A null resets a field to its default; an absent field keeps its value. */
const changed = (before: UnsavedBlueprint, changes: BlueprintChanges): UnsavedBlueprint =>
  Object.fromEntries(
    FIELDS.map((name) => [name, changes[name] === undefined ? before[name] : (changes[name] ?? DEFAULTS[name])]),
  ) as unknown as UnsavedBlueprint

type Flags = Pick<SyncPolicy, 'skipCollectors' | 'fullSync'>

/** Creates a pipeline from a blueprint. Used by the schedule and by the trigger. */
export type StartPipeline = (
  blueprint: Blueprint,
  flags: Flags,
  /** Runs in the transaction that creates the pipeline. When it returns false, another process was first and nothing is created. */
  claim?: (transaction: Queries) => Promise<boolean>,
  /** Stops the search for new scopes, and with it the start of the pipeline. */
  signal?: AbortSignal,
) => Promise<Pipeline | undefined>

export function blueprintService(context: ServiceContext, startPipeline: StartPipeline): BlueprintService {
  const { database, plugins, secrets } = context
  const { kysely } = database

  const stored = (id: number) => storedBlueprint(kysely, id, secrets)

  async function save(blueprint: UnsavedBlueprint, before?: Blueprint): Promise<Blueprint> {
    const complete = await checkBlueprint(context, blueprint)
    const isRescheduled =
      !before || (['enable', 'isManual', 'cronConfig'] as const).some((name) => before[name] !== complete[name])
    const id = await retrying(database, () =>
      database.transaction(async (inside) => {
        const transaction = inside.kysely
        await requireFreeProject(transaction, complete.projectName, before?.id)
        const saved = await writeBlueprint(transaction, complete, secrets, before)
        if (isRescheduled) await setTick(transaction, saved, new Date())
        // The data that the tools sent is stored already, so it can count without a run.
        if (before && sentTo(complete) !== sentTo(before)) await wantCalculation(inside, saved)
        return saved
      }),
    )
    context.changed('schedule')
    return withMaskedPlans(await stored(id))
  }

  /** The push connections of a blueprint, to which tools send data by themselves, as a text that can be compared. */
  const sentTo = ({ connections }: Pick<Blueprint, 'connections'>): string =>
    connections
      .filter(({ pluginName }) => plugins.some(({ name, pushSource }) => name === pluginName && pushSource))
      .map(({ pluginName, connectionId }) => `${pluginName} ${connectionId}`)
      .sort()
      .join()

  /** Clients send plans back as they were shown, with secrets masked. The plan of a NORMAL blueprint is computed again. */
  function plansIn(input: BlueprintChanges, before?: Blueprint): BlueprintChanges {
    const isAdvanced = (input.mode ?? before?.mode) === 'ADVANCED'
    const names = PLAN_FIELDS.filter((name) => input[name] && (name !== 'plan' || isAdvanced))
    return Object.fromEntries(
      names.map((name) => [name, restoreSecrets(parsePlan(plugins, input[name], name), before?.[name], name)]),
    )
  }

  async function change(
    before: Blueprint,
    changes: BlueprintChanges,
    allow: Parameters<BlueprintService['update']>[3],
  ): Promise<Blueprint> {
    if (changes.mode !== undefined && changes.mode !== before.mode) {
      throw new UserError('mode cannot be changed: create another blueprint.')
    }
    requireReadable(before, changes)
    const after = changed(before, { ...changes, ...plansIn(changes, before) })
    allow?.(before, after)
    return save(after, before)
  }

  const flagsOf = (flags: Partial<Flags> = {}): Flags => ({
    skipCollectors: flags.skipCollectors ?? false,
    fullSync: flags.fullSync ?? false,
  })

  return {
    list: (filter) => listBlueprints(context, filter),
    create: async (blueprint) => save(changed(DEFAULTS, { ...blueprint, ...plansIn(blueprint) })),
    get: async (id) => withMaskedPlans(await stored(id)),
    update: async (id, changes, seen, allow) =>
      whileChanging(
        await stored(id),
        (before) => {
          if (isStale(before.updatedAt, seen))
            throw new ChangedError(`Blueprint ${before.name}`, withMaskedPlans(before))
          return change(before, typeof changes === 'function' ? changes(before) : changes, allow)
        },
        () => stored(id),
      ),
    async addScopes(id, found) {
      await whileChanging(
        await stored(id),
        async (before) => {
          const connections = joined(before.connections, await found(before, database))
          return connections && save({ ...before, connections }, before)
        },
        () => stored(id),
      )
      return stored(id)
    },
    async remove(id) {
      const { name } = await blueprintRow(kysely, id)
      await requireFinished(kysely, [id], `blueprint ${name}`)
      await retrying(database, () =>
        kysely.transaction().execute(async (transaction) => {
          if (!(await deleteBlueprint(transaction, id))) throw unknownBlueprint(id)
        }),
      )
      context.changed('schedule')
    },
    async trigger(id, flags) {
      const blueprint = await stored(id)
      if (!blueprint.enable) throw new UserError(`Blueprint ${blueprint.name} is disabled: enable it first.`)
      return (await startPipeline(blueprint, flagsOf(flags))) as Pipeline
    },
    async preview(id, flags) {
      const blueprint = await stored(id)
      const plan = await planOf(context, blueprint, flagsOf(flags))
      return maskSecrets(await previewPlan(database, plan, await assumptionsOf(context, blueprint.connections)))
    },
    async previewOf(blueprint: NewBlueprint) {
      const { plan, connections } = await checkBlueprint(context, changed(DEFAULTS, blueprint))
      return maskSecrets(await previewPlan(database, plan, await assumptionsOf(context, connections)))
    },
  }
}

type BlueprintFilter = NonNullable<Parameters<BlueprintService['list']>[0]>

async function listBlueprints(
  { database: { kysely }, secrets }: ServiceContext,
  { enable, isManual, label, type = 'ALL', projects: names, ...page }: BlueprintFilter = {},
): Promise<Listed<Blueprint>> {
  const { count, items } = await selectPage(
    kysely,
    blueprints,
    page,
    (query) => {
      let narrowed = query
      if (enable !== undefined) narrowed = narrowed.where('enable', '=', enable)
      if (names) narrowed = narrowed.where('project_name', 'in', [...names])
      if (isManual !== undefined) narrowed = narrowed.where('is_manual', '=', isManual)
      else if (type !== 'ALL') {
        narrowed = narrowed.where('is_manual', '=', type === 'MANUAL')
        if (type === 'CUSTOM') narrowed = narrowed.where('cron_config', 'not in', Object.values(CRON_OF))
        else if (type !== 'MANUAL') narrowed = narrowed.where('cron_config', '=', CRON_OF[type])
      }
      return label === undefined ? narrowed : narrowed.where('id', 'in', labelled(kysely, label))
    },
    [['id', 'desc']],
  )
  return { count, items: (await readBlueprints(kysely, items, secrets, LONGEST_LISTED)).map(withMaskedPlans) }
}

/** Locks the row of the project, so that two blueprints saved for one project at the same time cannot both succeed. */
async function requireFreeProject(transaction: Queries, projectName: string, id?: number): Promise<void> {
  if (projectName === '') return
  const [project] = await selectRows(transaction, projects, (query) =>
    query.where('name', '=', projectName).forUpdate(),
  )
  if (!project) throw await unknownProject(transaction, projectName, 400)
  const other = await findRow(transaction, blueprints, { project_name: projectName })
  if (other && other.id !== id) throw new UserError(`Project ${projectName} already has the blueprint ${other.name}.`)
}

export const withMaskedPlans = (blueprint: Blueprint): Blueprint => ({
  ...blueprint,
  plan: maskSecrets(blueprint.plan),
  beforePlan: maskSecrets(blueprint.beforePlan),
  afterPlan: maskSecrets(blueprint.afterPlan),
})

const labelled = (queries: Queries, label: string) =>
  queries.selectFrom(blueprintLabels.name).select('blueprint_id').where('name', '=', label)
