import type { Database } from '../../database/database.ts'
import { calculateDeploymentCommitsDiff } from '../calculate/commit-ranges.ts'
import { generateDeploymentCommits, generateDeployments } from '../calculate/deployments.ts'
import { connectIncidentToDeployment, convertIssuesToIncidents } from '../calculate/incidents.ts'
import { calculateChangeLeadTime } from '../calculate/lead-times.ts'
import { enrichPrevSuccessDeploymentCommits } from '../calculate/previous-deployments.ts'
import { writeRollouts } from '../calculate/rollouts.ts'
import { fourKeys } from '../index.ts'
import type { MetricFilter } from '../metric.ts'
import { checkRange, type Explanation, readMetric } from '../read/read.ts'
import { issueSources } from './preview-issues.ts'
import { applyRules, type RuleEffect, type Rules, rowsOf, type Subjects } from './preview-rules.ts'
import { runSources } from './preview-runs.ts'

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

interface Trying extends Pick<Subjects, 'idsBegin' | 'inForce'> {
  readonly signal: AbortSignal
  /** Makes the rows of these domain types again from what was collected, with the rules. Without it, the stored rows are judged. */
  readonly transform?: (inside: Database, types: readonly string[]) => Promise<void>
}

/** Ends a transaction that must leave nothing behind. */
class Discarded extends Error {
  readonly preview: Preview
  constructor(preview: Preview) {
    super('A preview leaves nothing behind.')
    this.preview = preview
  }
}

/**
 * Shows what changed rules would do. The rows are changed and everything is calculated as in a real run, inside a transaction
 * that is then rolled back. Nobody else sees it, but a collector that writes the same rows waits for its end.
 */
export async function previewRules(
  database: Database,
  filter: MetricFilter,
  rules: Rules,
  { signal, idsBegin, inForce, transform }: Trying,
): Promise<Preview> {
  checkRange(filter)
  const subjects = { project: filter.project, idsBegin, inForce }
  const runs = runSources(subjects, rules)
  const issues = issueSources(subjects, rules)
  const sources = [...runs, ...issues]
  try {
    await database.transaction(async (inside) => {
      const before = await readKeys(inside, filter)
      const effects = new Map<string, RuleEffect>()
      const earlier = transform && (await rowsOf(inside, sources))
      await transform?.({ ...inside, readsInPages: true }, [
        ...(runs.length > 0 ? ['CICD'] : []),
        ...(issues.length > 0 ? ['TICKET'] : []),
      ])
      for (const source of sources) await applyRules(inside, source, inForce, effects, earlier)
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
