/** What rules would make of a project, tried on what its sources have collected. */
import { type Preview, previewRules } from '../metrics/preview.ts'
import type { Rules } from '../metrics/preview-rules.ts'
import { policyOfProject } from './project-policy.ts'
import { rulesInForce, rulesToSave, scopeRulesOf, transformWith } from './rules-in-force.ts'
import type { ServiceContext } from './services.ts'
import { sourceNamed } from './sources.ts'

/** It works through all rows of a project, as steps of a run do. */
export const LONGEST_PREVIEW_MS = 300_000

export interface TriedRules {
  readonly project: string
  readonly from: Date
  readonly to: Date
  /** Whose scope configs are tried; all of the project unless told. */
  readonly connection?: { readonly plugin: string; readonly id: number } | undefined
  readonly rules: Rules
}

/** Patterns of users are matched: not while a request is answered. */
export async function previewOfProject(
  context: Pick<ServiceContext, 'database' | 'plugins'>,
  { project, from, to, connection, rules }: TriedRules,
): Promise<Preview & { readonly save: ReturnType<typeof rulesToSave> }> {
  const { database, plugins } = context
  const signal = AbortSignal.timeout(LONGEST_PREVIEW_MS)
  const policy = await policyOfProject(database, project)
  const filter = { from, to, project, environment: 'PRODUCTION', policy }
  // How ids of the scopes of a connection begin.
  const idsBegin = connection && `${sourceNamed(plugins, connection.plugin).scope.table.idPrefix}:${connection.id}:`
  const scopes = await scopeRulesOf(context, project)
  const tried = scopes.filter(({ ids }) => ids.some((id) => id.startsWith(idsBegin ?? '')))
  const preview = await previewRules(database, filter, rules, {
    ...{ signal, idsBegin, inForce: rulesInForce(scopes, rules) },
    // Of what no source here has collected, nothing can be made again: there the stored rows have to do.
    ...(scopes.length > 0 && {
      transform: (inside, types) => transformWith(inside, tried, { tried: rules, types, signal }),
    }),
  })
  return { ...preview, save: rulesToSave(tried, rules) }
}
