/** The projects of a history: their scopes, their calculations, and their deletion. */

import { domainScopesOf, entitiesOf } from '../../../src/control-plane/plan/domain-scopes.ts'
import { metricOption, metricsOf } from '../../../src/control-plane/plan/metric-plans.ts'
import { projectService } from '../../../src/control-plane/projects/projects.ts'
import type { BlueprintService, ServiceContext } from '../../../src/control-plane/services.ts'
import type { Database } from '../../../src/database/database.ts'
import { write } from '../../../src/database/write.ts'
import type { Plugin, PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import { dora } from '../../../src/plugins/dora/plugin.ts'
import { issueTrace } from '../../../src/plugins/issue-trace/plugin.ts'
import { linker } from '../../../src/plugins/linker/plugin.ts'
import { org } from '../../../src/plugins/org/plugin.ts'
import { refdiff } from '../../../src/plugins/refdiff/plugin.ts'
import { projects } from '../../../src/system/projects.ts'

/** The scopes that belong to each project at first. Both projects have the second scope. */
const PROJECTS = [
  { name: 'north', has: (scope: number) => scope < 2 },
  { name: 'south', has: (scope: number) => scope > 0 },
] as const

/** Scopes that were put into a project or taken out of it: `PROJECT SCOPE`. */
export type Regrouped = ReadonlySet<string>

export const hasScope = (regrouped: Regrouped, project: number, scope: number): boolean =>
  (PROJECTS[project]?.has(scope) ?? false) !== regrouped.has(`${project} ${scope}`)

export const CALCULATING: readonly Plugin[] = [dora, issueTrace, linker, org, refdiff]
const OPTIONS: Readonly<Record<string, unknown>> = { linker: { prToIssueRegexp: '#(\\d+)' } }

export interface ProjectRun {
  readonly database: Database
  readonly source: PluginSpec
  readonly connectionId: number
  /** The rows of the configured scopes, by number. */
  readonly scopes: ReadonlyMap<number, Readonly<Record<string, unknown>>>
  readonly regrouped: Regrouped
  readonly signal: AbortSignal
}

/** Maps the project's scopes, as its pipeline does before it collects them. */
export const mapProject = (run: ProjectRun, project: number): Promise<void> =>
  calculate(run, 'org', ['setProjectMapping'], {
    projectMappings: [{ projectName: PROJECTS[project]?.name, scopes: domainScopes(run, project) }],
  })

/** Calculates the project's metrics, as its pipeline does after it has collected the scopes. */
export async function calculateProject(run: ProjectRun, project: number): Promise<void> {
  const projectName = PROJECTS[project]?.name as string
  for (const [name, metric] of metricsOf(CALCULATING)) {
    const plan = metric.plan({
      projectName,
      domainScopes: domainScopes(run, project),
      option: metricOption(OPTIONS[name]),
    })
    for (const { plugin, subtasks, options } of plan.flat()) await calculate(run, plugin, subtasks ?? [], options ?? {})
  }
}

const domainScopes = ({ source, connectionId, scopes, regrouped }: ProjectRun, project: number) =>
  [...scopes]
    .filter(([scope]) => hasScope(regrouped, project, scope))
    .flatMap(([, row]) => domainScopesOf(source, connectionId, row, entitiesOf([])))

async function calculate(
  { database, signal }: ProjectRun,
  pluginName: string,
  names: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const plugin = CALCULATING.find(({ name }) => name === pluginName)
  for (const name of names) {
    const subtask = plugin?.subtasks.find((each) => each.name === name)
    if (!subtask) throw new Error(`${pluginName} has no subtask ${name}`)
    await subtask.run({ database, options, fullSync: false, signal, progress: () => {} })
  }
}

export async function deleteProject(database: Database, project: number): Promise<void> {
  const name = PROJECTS[project]?.name as string
  await write(database, [projects.row({ name })])
  const context = { database, changed: () => {} } as unknown as ServiceContext
  await projectService(context, {} as BlueprintService).remove(name)
}
