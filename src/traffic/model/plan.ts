import { z } from 'zod'
import { didYouMean } from '../../basics/nearest.ts'
import { type Code, type Finding, finding, MOST_FINDINGS } from './finding.ts'
import type { gateSchema } from './gate-schema.ts'
import { planSchema, type port, routesPlanSchema, type sideSchema, weightText } from './plan-schema.ts'
import { readYaml, type YamlDocument } from './yaml.ts'

/** A plan as it is written and stored; `routesOf` makes a list of routes of either form. */
export type Plan = z.infer<typeof planSchema> | z.infer<typeof routesPlanSchema>
/** One route with everything that holds for it. Effects, manifests and findings about a route use this. */
export type RoutePlan = z.infer<typeof planSchema> & {
  /** Name of the route and its place in the plan; missing if the plan has no list of routes. */
  readonly route?: { readonly name: string; readonly path: string }
}
export type Side = z.infer<typeof sideSchema>
export type SideName = 'current' | 'target'
export type Step = Plan['steps'][number]
export type Gate = z.infer<typeof gateSchema>
export type Port = z.infer<typeof port>

export const bindingNamespace = (plan: RoutePlan): string => plan.binding.namespace ?? plan.target.namespace
export const bindingService = (plan: RoutePlan): { name: string; port: Port } =>
  plan.binding.serviceRef ?? plan.target.service

/** Decides what a step does about its failure. Waiting for somebody does not help clients whose requests are answered with 503. */
export const answerOf = ({ onFail }: Step, isNothingHealthy = false): 'pause' | 'rollback' =>
  onFail ?? (isNothingHealthy ? 'rollback' : 'pause')

/** `['steps', 1, 'weights']` as people write it: `steps[1].weights`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) =>
      typeof part === 'number'
        ? `[${part}]`
        : /^[\w-]+$/.test(String(part))
          ? `.${String(part)}`
          : `["${String(part)}"]`,
    )
    .join('')
    .replace(/^\./, '')

const KNOWN_KEYS = [
  ...new Set(
    [planSchema, routesPlanSchema].flatMap(
      (schema) => JSON.stringify(z.toJSONSchema(schema, { io: 'input' })).match(/(?<=")\w+(?=":)/g) ?? [],
    ),
  ),
]

export interface Parsed {
  /** Missing when the text does not have the shape of a plan. */
  readonly plan?: Plan
  readonly findings: readonly Finding[]
}

export function parsePlan(text: string): Parsed {
  const documents = readYaml(text)
  const first = documents[0]
  if (first === undefined) return { findings: [finding('TS-Y01', '(plan)', 'the file is empty')] }
  if (documents.length > 1) return { findings: [finding('TS-Y01', '(plan)', 'expected one YAML document')] }
  if ('problem' in first) return { findings: [first.problem] }
  const parsed = refuseOddNumbers(readPlan(first.value), first)
  return {
    ...parsed,
    findings: parsed.findings.map((item) => withLine(item, first.lineOf(item.path))),
  }
}

/** YAML reads `90.0` and `1e1` as whole numbers, but the controller does not. It must get exactly what people see. */
function refuseOddNumbers(parsed: Parsed, { sourceOf }: YamlDocument): Parsed {
  const odd = (parsed.plan?.steps ?? []).flatMap((_, step) =>
    (['current', 'target'] as const).flatMap((side) => {
      const path = ['steps', step, 'weights', side] as const
      const source = sourceOf(path)
      return source === undefined || /^\d+$/.test(source)
        ? []
        : [finding('TS-W01', pathText(path), `got ${source}; ${weightText}`)]
    }),
  )
  return odd.length === 0 ? parsed : { findings: odd }
}

const hasRoutes = (value: unknown): boolean => typeof value === 'object' && value !== null && 'routes' in value

export function readPlan(value: unknown): Parsed {
  const result = (hasRoutes(value) ? routesPlanSchema : planSchema).safeParse(value)
  if (result.success) return { plan: result.data, findings: [] }
  return { findings: result.error.issues.slice(0, MOST_FINDINGS).flatMap(findingsOf).slice(0, MOST_FINDINGS) }
}

export const withLine = (item: Finding, line: number | undefined): Finding =>
  line === undefined ? item : { ...item, line }

/** In a plan with a list of routes, the fields of a route do not belong beside the list. */
const hintFor = (key: string): string =>
  KNOWN_KEYS.includes(key) ? ', which belongs to another place' : didYouMean(key, KNOWN_KEYS)

function findingsOf(issue: z.core.$ZodIssue): readonly Finding[] {
  const path = pathText(issue.path) || '(plan)'
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MOST_FINDINGS)
      .map((key) => finding('TS-Y02', pathText([...issue.path, key]), `unknown field ${key}${hintFor(key)}`))
  }
  const own = /^(TS-[A-Z]\d\d) (.*)$/s.exec(issue.message)
  return [own === null ? finding('TS-Y02', path, issue.message) : finding(own[1] as Code, path, own[2]!)]
}
