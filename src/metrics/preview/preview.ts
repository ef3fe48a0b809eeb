import type { Database } from '../../database/database.ts'
import { calculateDeploymentCommitsDiff } from '../calculate/commit-ranges.ts'
import { generateDeploymentCommits, generateDeployments } from '../calculate/deployments.ts'
import { connectIncidentToDeployment, convertIssuesToIncidents } from '../calculate/incidents.ts'
import { calculateChangeLeadTime } from '../calculate/lead-times.ts'
import { enrichPrevSuccessDeploymentCommits } from '../calculate/previous-deployments.ts'
import { writeRollouts } from '../calculate/rollouts.ts'
import { reworkRate } from '../definitions/rework-rate.ts'
import { fourKeys } from '../index.ts'
import type { MetricFilter } from '../metric.ts'
import type { Policy } from '../policy/policy.ts'
import { checkRange, type Explanation, readMetric } from '../read/read.ts'
import { issueSources } from './preview-issues.ts'
import { reworkEffect } from './preview-rework.ts'
import { applyRules, type RuleEffect, type Rules, rowsOf, type Subjects } from './preview-rules.ts'
import { runSources } from './preview-runs.ts'

export interface Preview {
  readonly effects: readonly RuleEffect[]
  readonly keys: readonly { readonly metric: string; readonly before: Explanation; readonly after: Explanation }[]
}

const KEYS = [...fourKeys, reworkRate]

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
  /** The policy that is tried. Without it, that of the filter stays. */
  readonly policy?: Policy | undefined
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
  { signal, idsBegin, inForce, transform, policy = filter.policy }: Trying,
): Promise<Preview> {
  checkRange(filter)
  const subjects = { project: filter.project, idsBegin, inForce }
  const runs = runSources(subjects, rules)
  const issues = issueSources(subjects, rules)
  const sources = [...runs, ...issues]
  const then = { ...filter, policy }
  try {
    await database.transaction(async (inside) => {
      const before = await readKeys(inside, filter)
      const effects = new Map<string, RuleEffect>()
      const earlier = transform && (await rowsOf(inside, sources))
      await transform?.({ ...inside, readsInPages: true }, [
        ...(runs.length > 0 ? ['CICD'] : []),
        ...(issues.length > 0 ? ['TICKET'] : []),
      ])
      if (policy !== filter.policy) {
        const effect = await reworkEffect(inside, filter, policy)
        effects.set(effect.rule, effect)
      }
      for (const source of sources) await applyRules(inside, source, inForce, effects, earlier)
      const options = { projectName: filter.project }
      for (const calculate of CALCULATIONS) await calculate({ database: inside, options, fullSync: false, signal })
      await writeRollouts(inside, filter.project, policy)
      const after = await readKeys(inside, then)
      throw new Discarded({
        effects: [...effects.values()],
        keys: KEYS.map(({ name }, index) => ({
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
  for (const metric of KEYS) values.push(await readMetric(database, metric, filter))
  return values
}
