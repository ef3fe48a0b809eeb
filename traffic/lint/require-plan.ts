import { refuseErrors } from '../model/finding.ts'
import { type Parsed, type Plan, parsePlan } from '../model/plan.ts'
import { lintPlan } from './plan.ts'

/** Returns the plan, or throws with every reason why it is not valid. */
export function requirePlan(parsed: Parsed, consequence?: string): Plan {
  const findings = [...parsed.findings, ...(parsed.plan === undefined ? [] : lintPlan(parsed.plan))]
  refuseErrors('The plan', findings, consequence)
  return parsed.plan!
}

/** `consequence` says what does not happen because of an error. */
export const planFromText = (text: string, consequence?: string): Plan => requirePlan(parsePlan(text), consequence)
