import { readFileSync } from 'node:fs'
import { parsePlan, type RoutePlan } from '../../../traffic/model/plan.ts'

export const SHOP_YAML = readFileSync(new URL('../fixtures/shop.yaml', import.meta.url), 'utf8')

export function shopPlan(change: (plan: RoutePlan) => void = () => {}): RoutePlan {
  const { plan, findings } = parsePlan(SHOP_YAML)
  if (plan === undefined || 'routes' in plan) throw new Error(JSON.stringify(findings))
  const copy = structuredClone(plan)
  change(copy)
  return copy
}
