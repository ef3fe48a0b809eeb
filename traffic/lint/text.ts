import type { Finding } from '../model/finding.ts'
import { parsePlan } from '../model/plan.ts'
import { lintManifests } from './manifests.ts'
import { lintPlan } from './plan.ts'

const PLAN = /^apiVersion:\s*["']?traffic\//m

/** Lints any text: a plan of Weir, or Kubernetes manifests. */
export function lintText(text: string, live = ''): readonly Finding[] {
  if (!PLAN.test(text)) return lintManifests(text, live)
  const { plan, findings } = parsePlan(text)
  return plan === undefined ? findings : lintPlan(plan)
}
