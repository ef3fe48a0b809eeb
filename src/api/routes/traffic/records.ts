import { z } from 'zod'
import { STEP_STATUSES } from '../../../../traffic/engine/status.ts'
import { initialPlan, PRESETS } from '../../../../traffic/model/init.ts'
import { planSchema, routesPlanSchema } from '../../../../traffic/model/plan-schema.ts'
import { ACTIONS, STATES } from '../../../../traffic/model/state.ts'
import { MOST_MINUTES } from '../../../../traffic/render/simulate.ts'
import { STATUSES } from '../../../../traffic/survey/preflight-report.ts'
import { bounded, example } from '../../../plugin-kit/spec/request-values.ts'
import { type Answers, answers } from '../../contract/common.ts'

export const findingRecord = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  path: z.string(),
  message: z.string(),
  remedy: z.string(),
  enforcedBy: z.string(),
  line: z.int().optional(),
})
export const switchRecord = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  state: z.enum(STATES),
  step: z.int(),
  version: z.int(),
  plan: z.any(),
  targetGroupArn: z.string().nullable(),
  targetGroupArns: z.record(z.string(), z.string()).describe('By route, where the plan lists its routes.'),
  verifiedAt: z.string().nullable(),
  dnsConfirmedAt: z.string().nullable(),
  problem: z.string().nullable(),
  actions: z.array(z.enum(ACTIONS)),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export const gateRecord = z.object({
  gate: z.string(),
  verdict: z.enum(['pass', 'fail', 'inconclusive', 'pending']),
  message: z.string(),
  asks: z.string().describe('What the gate asks for, with its limit.'),
})
const share = z.object({ least: z.number(), most: z.number() }).nullable()
const liveRules = {
  share: share.describe('Which part of the requests the target gets, from the least to the most; null: not known.'),
  weights: z
    .record(z.string(), z.int())
    .describe('Weights of the live rules, others/target, and how many rules have them.'),
  rulesLeft: z.int().describe('Rules that still forward to the current target group alone.'),
  health: z.object({ healthy: z.int(), total: z.int(), draining: z.int(), reasons: z.array(z.string()) }).nullable(),
}
export const statusRecord = z.object({
  ...liveRules,
  headline: z.string().describe('State and split in words, from the live rules.'),
  routes: z
    .array(
      z.object({
        route: z.string().describe('Its name; a plan without a list of routes has one, called like its Service.'),
        ...liveRules,
        planned: z.string().nullable().describe('The weights that should be in force.'),
        isAsPlanned: z.boolean().nullable().describe('Null: not known.'),
        says: z.string(),
        problem: z.string().nullable(),
      }),
    )
    .describe('The same of each route.'),
  steps: z.array(
    z.object({
      number: z.int().describe('0 prepares; the same number everywhere.'),
      weights: z.string(),
      status: z.enum(STEP_STATUSES).describe('A step is in force when the live rules have its weights.'),
      dwellSeconds: z.int(),
      gates: z.array(z.string()),
      onFail: z.enum(['pause', 'rollback']),
    }),
  ),
  step: z.string().nullable().describe('The step that is in force or under way, in words.'),
  gates: z.array(gateRecord),
  working: z.string().nullable().describe('Who is at work on it now.'),
  next: z.object({
    says: z.string().describe('What happens next.'),
    at: z.string().nullable().describe('Not before this moment.'),
    gate: z.string().nullable().describe('The gate that decides.'),
  }),
  drift: z.string().nullable().describe('What stands there and is not what Weir wrote.'),
  secondsLeft: z.int().describe('Until the dwell time of the step is over.'),
  clock: z.string().nullable().describe('How wrong the clock of the server is; null where it is right.'),
  problem: z.string().nullable().describe('Why the outside cannot be read.'),
})
const counts = z.object({ requests: z.number(), errors: z.number() })
export const requestsRecord = z.object({
  source: z.string().nullable().describe('Null where the plan names none that tells the clusters apart.'),
  problem: z.string().nullable(),
  minutes: z.array(z.object({ at: z.string(), current: counts, target: counts })),
})
export const journalRecord = z.object({
  sequence: z.int(),
  at: z.string().nullable(),
  actor: z.string(),
  action: z.string(),
  kind: z.string(),
  effect: z.string(),
  detail: z.string(),
  says: z.string().describe('The entry as a sentence.'),
})
export const checkRecord = z.object({
  /** Set if the plan lists its routes and the check belongs to one of them. */
  route: z.string().optional(),
  check: z.string(),
  status: z.enum(STATUSES),
  message: z.string(),
})
/** About a second of work. Plans and manifests of one application are about a hundredth of this length. */
const LONGEST_YAML = 200_000
export const yamlText = z
  .string()
  .max(LONGEST_YAML, `is longer than ${LONGEST_YAML} characters: send fewer objects at once`)
const words = bounded(255)
export const importBody = z.strictObject({
  project: words,
  currentContext: words,
  targetContext: words,
  namespace: words,
  ingress: words,
  name: words.optional(),
  targetNamespace: words.optional(),
  targetIngress: words.optional(),
  createTargetIngress: z.boolean().optional(),
  service: words.optional(),
  port: words.optional(),
  host: words.optional(),
  path: bounded(1024).optional(),
  targetService: words.optional(),
  targetPort: words.optional(),
  containerPort: z.int().min(1).max(65_535).optional(),
  sourceSecurityGroup: words.optional(),
  region: words.optional(),
  vpcId: words.optional(),
  actionName: words.optional(),
  targetGroupName: words.optional(),
  preset: z.enum(Object.keys(PRESETS) as [string, ...string[]]).optional(),
})
export const importRecord = z.object({
  plan: z.any().describe('Null while there is something to ask, or an error among the findings.'),
  yaml: z.string().nullable().describe('The same as a text.'),
  questions: z.array(
    z.object({
      field: z.string(),
      text: z.string(),
      choices: z.array(z.string()),
      hints: z.array(z.string()).describe('What is known of each choice.'),
    }),
  ),
  findings: z.array(findingRecord),
})
export const differenceRecord = z.object({ object: z.string(), path: z.string(), before: z.any(), after: z.any() })
export const simulationRecord = z.object({
  seed: z.int(),
  requests: z.int(),
  errors: z.int(),
  timeTo99Seconds: z.number().nullable(),
  minutes: z.array(
    z.object({ minute: z.int(), requests: z.int(), targetShare: z.number(), pinnedShare: z.number(), errors: z.int() }),
  ),
})

/** The plan as an object, or as the text of its YAML file. */
const { properties } = z.toJSONSchema(planSchema, { io: 'input' })
const { properties: ofRoutes } = z.toJSONSchema(routesPlanSchema, { io: 'input' })
/** Plans that list their routes have these fields in another form. */
const either = (name: string) => ({ anyOf: [properties?.[name], ofRoutes?.[name]] })
export const planBody = z.looseObject({ yaml: yamlText.optional(), apiVersion: z.string().optional() }).meta({
  description: 'A plan, or { yaml } with its text.',
  properties: {
    yaml: { type: 'string', maxLength: LONGEST_YAML },
    ...ofRoutes,
    ...properties,
    current: either('current'),
    target: either('target'),
    dns: either('dns'),
  },
  ...example({ yaml: initialPlan('shop', 'canary') }),
})
export const transitionBody = z.strictObject({
  action: z.enum(ACTIONS),
  dryRun: z.boolean().default(false),
  /** False: answer at once and continue in the background; the events tell how it ends. */
  wait: z.boolean().default(true),
  expectedVersion: z.int().optional(),
  reason: bounded(1000).optional(),
  overrideGates: z.boolean().optional(),
  uncheckedDns: z.boolean().optional(),
  skipQuiet: z.boolean().optional(),
  acceptLive: z.boolean().optional(),
  directly: z
    .boolean()
    .optional()
    .describe('For advance: change the rules of the load balancer itself if the controller does not follow.'),
  keepIngress: z.boolean().optional(),
  confirm: bounded(255).optional(),
})
export const transitionAnswers: Answers = {
  ...answers(
    200,
    z.union([switchRecord, z.object({ dryRun: z.array(z.string()) })]),
    400,
    404,
    409,
    412,
    422,
    502,
    503,
    504,
  ),
  202: switchRecord,
}
export const simulationBody = z
  .strictObject({
    seed: z.int().optional(),
    clients: z.int().min(1).max(20_000).optional(),
    thinkSeconds: z.number().min(1).max(604_800).optional(),
    sessionSeconds: z.number().min(1).max(604_800).optional(),
    minutes: z.int().min(1).max(MOST_MINUTES).optional(),
    renewCookie: z.boolean().optional(),
    outages: z
      .array(z.strictObject({ group: z.enum(['current', 'target']), fromSeconds: z.number(), toSeconds: z.number() }))
      .max(1000)
      .optional(),
  })
  .default({})
