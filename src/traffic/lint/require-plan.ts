import { refuseErrors } from '../model/finding.ts'
import { type Parsed, type Plan, parsePlan } from '../model/plan.ts'
import { lintPlan } from './plan.ts'

/** The plan, or every reason why it is none. */
export function requirePlan(parsed: Parsed): Plan {
  refuseErrors('The plan', [...parsed.findings, ...(parsed.plan === undefined ? [] : lintPlan(parsed.plan))])
  return parsed.plan!
}

export const planFromText = (text: string): Plan => requirePlan(parsePlan(text))
