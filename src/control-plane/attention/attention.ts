/** Says what needs attention: one sentence for each cause, however many errors it made, the most costly first. */
import type { Cause } from '../../metrics/answer/answer.ts'
import { collectionCauses } from './collection-causes.ts'
import { anyRun, failedRuns } from './failed-runs.ts'
import type { AttentionQuestion, Context, FindCauses } from './question.ts'
import { recordCauses } from './record-causes.ts'
import { ruleCauses } from './rule-causes.ts'
import { waitingCauses } from './waiting-causes.ts'

const ALL: readonly FindCauses[] = [collectionCauses, recordCauses, ruleCauses, waitingCauses]

export interface Attention {
  /** False when no run has ended yet: then nothing can be said about the last runs. */
  readonly hasRun: boolean
  /** The last runs that failed, newest first. */
  readonly runs: readonly { readonly id: number; readonly project: string }[]
  readonly causes: readonly Cause[]
}

export async function readAttention(context: Context, question: AttentionQuestion): Promise<Attention> {
  const [hasRun, runs, causes] = await Promise.all([
    anyRun(context, question.projects),
    failedRuns(context, question.projects),
    causesOf(context, question),
  ])
  return { hasRun, runs: runs.map(({ id, project }) => ({ id, project })), causes }
}

export async function causesOf(context: Context, question: AttentionQuestion): Promise<Cause[]> {
  if (question.projects?.length === 0) return []
  const found = await Promise.all(ALL.map((find) => find(context, question)))
  return mostCostlyFirst(found.flat())
}

export const mostCostlyFirst = (causes: readonly Cause[]): Cause[] =>
  causes.toSorted((one, other) => other.cost - one.cost || (one.sentence < other.sentence ? -1 : 1))
