import type { Finding } from '../model/finding.ts'
import { parsePlan } from '../model/plan.ts'
import { lintManifests } from './manifests.ts'
import { lintPlan } from './plan.ts'

const PLAN = /^apiVersion:\s*["']?traffic\//m

/** Lints whatever the text is: a plan of ours, or manifests of anybody. */
export function lintText(text: string, live = ''): readonly Finding[] {
  if (!PLAN.test(text)) return lintManifests(text, live)
  const { plan, findings } = parsePlan(text)
  return plan === undefined ? findings : lintPlan(plan)
}
