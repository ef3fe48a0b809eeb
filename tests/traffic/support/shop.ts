import { readFileSync } from 'node:fs'
import { type Plan, parsePlan } from '../../../src/traffic/model/plan.ts'

export const SHOP_YAML = readFileSync(new URL('../fixtures/shop.yaml', import.meta.url), 'utf8')

export function shopPlan(change: (plan: Plan) => void = () => {}): Plan {
  const { plan, findings } = parsePlan(SHOP_YAML)
  if (plan === undefined) throw new Error(JSON.stringify(findings))
  const copy = structuredClone(plan)
  change(copy)
  return copy
}
