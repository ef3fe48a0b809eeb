/** Work on plans and manifests that threads do. */
import { requirePlan } from '../../../../traffic/lint/require-plan.ts'
import { readPlan } from '../../../../traffic/model/plan.ts'

export { lintPlan } from '../../../../traffic/lint/plan.ts'
export { planFromText } from '../../../../traffic/lint/require-plan.ts'
export { lintText } from '../../../../traffic/lint/text.ts'
export { diffSides } from '../../../../traffic/render/diff.ts'
export { renderPhase } from '../../../../traffic/render/render.ts'
export { simulate } from '../../../../traffic/render/simulate.ts'
export { manifestsIn } from '../../../../traffic/survey/pasted-cluster.ts'

export const planFromValue = (value: unknown) => requirePlan(readPlan(value))
