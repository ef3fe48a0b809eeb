/** Previews the effect of changed rules on a project, using the data that its sources have collected. */
import { type Preview, previewRules } from '../../metrics/preview/preview.ts'
import type { Rules } from '../../metrics/preview/preview-rules.ts'
import { policyOfProject } from '../projects/project-policy.ts'
import type { ServiceContext } from '../services.ts'
import { sourceNamed } from '../sources.ts'
import { rulesInForce, rulesToSave, scopeRulesOf, transformWith } from './rules-in-force.ts'

/** Long, because a preview works through all rows of a project as the steps of a run do. */
export const LONGEST_PREVIEW_MS = 300_000

export interface TriedRules {
  readonly project: string
  readonly from: Date
  readonly to: Date
  /** The connection whose scope configs are tried; all connections of the project when absent. */
  readonly connection?: { readonly plugin: string; readonly id: number } | undefined
  readonly rules: Rules
}

/** Matches patterns that users wrote, so it must not run where requests are answered. */
export async function previewOfProject(
  context: Pick<ServiceContext, 'database' | 'plugins'>,
  { project, from, to, connection, rules }: TriedRules,
): Promise<Preview & { readonly save: ReturnType<typeof rulesToSave> }> {
  const { database, plugins } = context
  const signal = AbortSignal.timeout(LONGEST_PREVIEW_MS)
  const policy = await policyOfProject(database, project)
  const filter = { from, to, project, environment: 'PRODUCTION', policy }
  // The beginning of the ids of all scopes of the connection.
  const idsBegin = connection && `${sourceNamed(plugins, connection.plugin).scope.table.idPrefix}:${connection.id}:`
  const scopes = await scopeRulesOf(context, project)
  const tried = scopes.filter(({ ids }) => ids.some((id) => id.startsWith(idsBegin ?? '')))
  const preview = await previewRules(database, filter, rules, {
    signal,
    idsBegin,
    inForce: rulesInForce(scopes, rules),
    // Data that no source here has collected cannot be made again; for it the stored rows are used.
    ...(scopes.length > 0 && {
      transform: (inside, types) => transformWith(inside, tried, { tried: rules, types, signal }),
    }),
  })
  return { ...preview, save: rulesToSave(tried, rules) }
}
