import type { Database } from '../database/database.ts'
import { calculateDeploymentCommitsDiff } from './calculate/commit-ranges.ts'
import { generateDeploymentCommits, generateDeployments } from './calculate/deployments.ts'
import { connectIncidentToDeployment, convertIssuesToIncidents } from './calculate/incidents.ts'
import { calculateChangeLeadTime } from './calculate/lead-times.ts'
import { enrichPrevSuccessDeploymentCommits } from './calculate/previous-deployments.ts'
import { writeRollouts } from './calculate/rollouts.ts'
import { fourKeys } from './index.ts'
import type { MetricFilter } from './metric.ts'
import { issueSources } from './preview-issues.ts'
import { applyRules, type Decide, type RuleEffect, type Rules, type Subject, type Subjects } from './preview-rules.ts'
import { runSources } from './preview-runs.ts'
import { checkRange, type Explanation, readMetric } from './read.ts'

export interface Preview {
  readonly effects: readonly RuleEffect[]
  readonly keys: readonly { readonly metric: string; readonly before: Explanation; readonly after: Explanation }[]
}

const CALCULATIONS = [
  generateDeployments,
  generateDeploymentCommits,
  enrichPrevSuccessDeploymentCommits,
  calculateDeploymentCommitsDiff,
  calculateChangeLeadTime,
  convertIssuesToIncidents,
  connectIncidentToDeployment,
]

/** Ends a transaction that must leave nothing behind. */
class Discarded extends Error {
  readonly preview: Preview
  constructor(preview: Preview) {
    super('A preview leaves nothing behind.')
    this.preview = preview
  }
}

/**
 * What changed rules would do: the rows are changed and everything is calculated as in a real run, inside a transaction
 * that is then thrown away. Nobody else sees it; a collector that writes the same rows waits for its end.
 */
export async function previewRules(
  database: Database,
  filter: MetricFilter,
  rules: Rules,
  {
    signal,
    idsBegin,
    inForce,
    decide,
  }: Pick<Subjects, 'idsBegin' | 'inForce'> & { readonly signal: AbortSignal; readonly decide: Decide },
): Promise<Preview> {
  checkRange(filter)
  const subjects = { project: filter.project, idsBegin, inForce }
  const sources = [...runSources(subjects, rules), ...issueSources(subjects, rules)]
  try {
    await database.transaction(async (inside) => {
      const before = await readKeys(inside, filter)
      const effects = new Map<string, RuleEffect>()
      for (const source of sources) {
        const decideRows = (rows: readonly Subject[]) => decide(source.table, rules, rows)
        await applyRules(inside, source, decideRows, inForce, effects)
      }
      const options = { projectName: filter.project }
      for (const calculate of CALCULATIONS) await calculate({ database: inside, options, fullSync: false, signal })
      await writeRollouts(inside, filter.project, filter.policy)
      const after = await readKeys(inside, filter)
      throw new Discarded({
        effects: [...effects.values()],
        keys: fourKeys.map(({ name }, index) => ({
          metric: name,
          before: before[index] as Explanation,
          after: after[index] as Explanation,
        })),
      })
    })
  } catch (error) {
    if (error instanceof Discarded) return error.preview
    throw error
  }
  throw new Error('a preview ended without a result')
}

async function readKeys(database: Database, filter: MetricFilter): Promise<Explanation[]> {
  const values: Explanation[] = []
  for (const metric of fourKeys) values.push(await readMetric(database, metric, filter))
  return values
}
