import { refuseErrors } from '../model/finding.ts'
import { type Parsed, type Plan, parsePlan } from '../model/plan.ts'
import { lintPlan } from './plan.ts'

/** The plan, or every reason why it is none. */
export function requirePlan(parsed: Parsed, consequence?: string): Plan {
  const findings = [...parsed.findings, ...(parsed.plan === undefined ? [] : lintPlan(parsed.plan))]
  refuseErrors('The plan', findings, consequence)
  return parsed.plan!
}

/** `consequence`: what does not happen because of an error. */
export const planFromText = (text: string, consequence?: string): Plan => requirePlan(parsePlan(text), consequence)
