import { byName } from '../../basics/by-name.ts'
import { didYouMean } from '../../basics/nearest.ts'
import { type Finding, finding } from './finding.ts'
import { describeValue, isPort, parseTargetGroupArn, TARGET_GROUP_NAME, textOf } from './names.ts'
import type { Plan, Port, RoutePlan } from './plan.ts'

/** The JSON of `alb.ingress.kubernetes.io/actions.<name>` that sends weighted shares to several target groups. */
export interface ForwardAction {
  readonly type: 'forward'
  readonly forwardConfig: {
    readonly targetGroups: readonly ForwardEntry[]
    /** Always written, because the controller keeps the old setting if it is left out. */
    readonly targetGroupStickinessConfig: { readonly enabled: boolean; readonly durationSeconds?: number }
  }
}
type ForwardEntry =
  | { readonly serviceName: string; readonly servicePort: Port; readonly weight: number }
  | { readonly targetGroupARN: string; readonly weight: number }
  | { readonly targetGroupName: string; readonly weight: number }

export const ANNOTATION_PREFIX = 'alb.ingress.kubernetes.io/'
export const actionKey = (name: string): string => `${ANNOTATION_PREFIX}actions.${name}`

/** Names a target group by its ARN, or by its name while the ARN is not known. */
export const groupReference = (group: string): { targetGroupARN: string } | { targetGroupName: string } =>
  group.startsWith('arn:') ? { targetGroupARN: group } : { targetGroupName: group }

const OFF = { enabled: false } as const

export const isFinalStep = (plan: Pick<Plan, 'steps'>, step: number): boolean => step === plan.steps.length - 1

export function actionOfStep(plan: RoutePlan, step: number, targetGroup: string): ForwardAction {
  const { enabled, durationSeconds, atFinalStep } = plan.stickiness
  const isSticky = enabled && !(isFinalStep(plan, step) && atFinalStep === 'disable')
  return forward(
    plan,
    plan.steps[step]!.weights,
    targetGroup,
    isSticky ? { enabled, durationSeconds: durationSeconds! } : OFF,
  )
}

/** Sends everything back to the current cluster, including clients whose cookie names the target. */
export const rollbackAction = (plan: RoutePlan, targetGroupArn: string): ForwardAction =>
  forward(plan, { current: 100, target: 0 }, targetGroupArn, OFF)

/** The rollback action without the target group. */
export const aloneAction = ({ current: { service } }: RoutePlan): ForwardAction => ({
  type: 'forward',
  forwardConfig: {
    targetGroups: [{ serviceName: service.name, servicePort: service.port, weight: 100 }],
    targetGroupStickinessConfig: OFF,
  },
})

const forward = (
  plan: RoutePlan,
  weights: { current: number; target: number },
  targetGroup: string,
  targetGroupStickinessConfig: ForwardAction['forwardConfig']['targetGroupStickinessConfig'],
): ForwardAction => ({
  type: 'forward',
  forwardConfig: {
    targetGroups: [
      { serviceName: plan.current.service.name, servicePort: plan.current.service.port, weight: weights.current },
      { ...groupReference(targetGroup), weight: weights.target },
    ],
    targetGroupStickinessConfig,
  },
})

const FORWARD_KEYS = ['targetGroups', 'targetGroupStickinessConfig']
const ENTRY_KEYS = ['serviceName', 'servicePort', 'targetGroupARN', 'targetGroupName', 'weight']
const STICKINESS_KEYS = ['enabled', 'durationSeconds']
const TYPE_KEYS: Record<string, readonly string[]> = byName({
  forward: ['type', 'targetGroupARN', 'targetGroupName', 'forwardConfig'],
  redirect: ['type', 'redirectConfig'],
  'fixed-response': ['type', 'fixedResponseConfig'],
})
const CONFIG_KEYS: Record<string, readonly string[]> = byName({
  redirectConfig: ['host', 'path', 'port', 'protocol', 'query', 'statusCode'],
  fixedResponseConfig: ['contentType', 'messageBody', 'statusCode'],
})

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Go refuses `90.0` and `1e1` where it expects a whole number, so such numbers are kept as they were typed. */
const keepOddNumbers = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' &&
  context?.source !== undefined &&
  !/^-?\d+$/.test(context.source) &&
  Number.isInteger(value)
    ? context.source
    : value

/** Reads an action more strictly than other programs: the controller silently drops keys that it does not know. */
export function lintAction(text: string, path: string, isFinal?: boolean): readonly Finding[] {
  let value: unknown
  try {
    value = JSON.parse(text, keepOddNumbers)
  } catch (error) {
    return [finding('TS-A07', path, `not JSON: ${(error as Error).message}`)]
  }
  if (!isFields(value)) return [finding('TS-A07', path, `expected a JSON object, got ${describeValue(value)}`)]
  const findings: Finding[] = []
  const type = fieldOf(value, 'type')
  const known = typeof type === 'string' ? TYPE_KEYS[type] : undefined
  if (known === undefined) {
    return [
      finding(
        'TS-A08',
        `${path}.type`,
        `unknown action type ${describeValue(type)}${didYouMean(textOf(type), Object.keys(TYPE_KEYS))}`,
      ),
    ]
  }
  const action = normalize(value, known, path, findings)
  for (const [name, keys] of Object.entries(CONFIG_KEYS)) {
    if (isFields(action[name]))
      lintStatusCode(name, normalize(action[name], keys, `${path}.${name}`, findings), path, findings)
    else if (known.includes(name)) findings.push(finding('TS-A08', path, `type ${type} needs ${name}`))
  }
  if (type === 'forward') lintForward(action, path, isFinal, findings)
  return findings
}

const STATUS_CODES: Record<string, RegExp> = byName({
  redirectConfig: /^HTTP_30[12]$/,
  fixedResponseConfig: /^[245]\d\d$/,
})

function lintStatusCode(name: string, { statusCode }: Fields, path: string, findings: Finding[]): void {
  if (typeof statusCode === 'string' && STATUS_CODES[name]!.test(statusCode)) return
  const expected = name === 'redirectConfig' ? '"HTTP_301" or "HTTP_302"' : 'text such as "503"'
  findings.push(
    finding('TS-A08', `${path}.${name}.statusCode`, `got ${describeValue(statusCode)}; expected ${expected}`),
  )
}

function lintForward(action: Fields, path: string, isFinal: boolean | undefined, findings: Finding[]): void {
  const short = action.targetGroupARN ?? action.targetGroupName
  if (action.forwardConfig !== undefined && short !== undefined) {
    findings.push(finding('TS-A08', path, 'either forwardConfig or targetGroupARN/targetGroupName, not both'))
  }
  if (action.forwardConfig === undefined) {
    if (short === undefined)
      findings.push(finding('TS-A08', path, 'forward needs forwardConfig, targetGroupARN or targetGroupName'))
    lintIdentity(action, path, findings)
    return
  }
  const configPath = `${path}.forwardConfig`
  if (!isFields(action.forwardConfig)) {
    findings.push(finding('TS-A08', configPath, `expected an object, got ${describeValue(action.forwardConfig)}`))
    return
  }
  const config = normalize(action.forwardConfig, FORWARD_KEYS, configPath, findings)
  const groups = config.targetGroups
  if (!Array.isArray(groups) || groups.length === 0) {
    findings.push(finding('TS-A08', `${configPath}.targetGroups`, 'expected a list with at least one target group'))
    return
  }
  const entries = groups.map((group, index) => {
    const entryPath = `${configPath}.targetGroups[${index}]`
    if (!isFields(group)) {
      findings.push(finding('TS-A04', entryPath, `expected an object, got ${describeValue(group)}`))
      return {}
    }
    const entry = normalize(group, ENTRY_KEYS, entryPath, findings)
    lintEntry(entry, entryPath, groups.length > 1, findings)
    return entry
  })
  lintWeights(entries, `${configPath}.targetGroups`, findings)
  lintStickiness(
    config.targetGroupStickinessConfig,
    entries,
    `${configPath}.targetGroupStickinessConfig`,
    isFinal,
    findings,
  )
}

function lintEntry(entry: Fields, path: string, needsWeight: boolean, findings: Finding[]): void {
  const kinds = ['serviceName', 'targetGroupARN', 'targetGroupName'].filter((key) => entry[key] !== undefined)
  if (kinds.length !== 1) {
    const got = kinds.length === 0 ? 'none of them' : kinds.join(' and ')
    findings.push(
      finding('TS-A04', path, `expected exactly one of serviceName, targetGroupARN and targetGroupName, got ${got}`),
    )
  }
  if (entry.serviceName !== undefined && entry.servicePort === undefined) {
    findings.push(finding('TS-A04', path, 'serviceName needs servicePort'))
  }
  if (entry.servicePort !== undefined && !isPort(entry.servicePort)) {
    findings.push(finding('TS-P01', `${path}.servicePort`, `got ${describeValue(entry.servicePort)}`))
  }
  lintIdentity(entry, path, findings)
  if (entry.weight === undefined) {
    if (needsWeight)
      findings.push(finding('TS-W01', `${path}.weight`, 'a weight is required when there are several target groups'))
  } else if (!Number.isInteger(entry.weight)) {
    findings.push(
      finding(
        'TS-W01',
        `${path}.weight`,
        `got ${describeValue(entry.weight)}; a weight is a whole number without quotes`,
      ),
    )
  } else if ((entry.weight as number) < 0 || (entry.weight as number) > 999) {
    findings.push(finding('TS-W02', `${path}.weight`, `got ${describeValue(entry.weight)}; allowed are 0..999`))
  }
}

function lintIdentity(entry: Fields, path: string, findings: Finding[]): void {
  const { targetGroupARN: arn, targetGroupName: name } = entry
  if (arn !== undefined && (typeof arn !== 'string' || parseTargetGroupArn(arn) === undefined)) {
    findings.push(finding('TS-T03', `${path}.targetGroupARN`, `${describeValue(arn)} is not the ARN of a target group`))
  }
  if (name !== undefined && (typeof name !== 'string' || !TARGET_GROUP_NAME.test(name))) {
    findings.push(finding('TS-T01', `${path}.targetGroupName`, `got ${describeValue(name)}`))
  }
}

function lintWeights(entries: readonly Fields[], path: string, findings: Finding[]): void {
  if (entries.length > 5) {
    findings.push(finding('TS-W06', path, `${entries.length} target groups; at most 5 are allowed`))
    return
  }
  const identities = entries.map(
    (entry) => entry.targetGroupARN ?? entry.targetGroupName ?? `${entry.serviceName}:${entry.servicePort}`,
  )
  const twice = identities.find((identity, index) => identities.indexOf(identity) !== index)
  if (twice !== undefined) findings.push(finding('TS-W07', path, `${describeValue(twice)} stands twice`))
  const weights = entries.map((entry) => entry.weight)
  if (entries.length > 1 && weights.every((weight) => typeof weight === 'number')) {
    findings.push(...lintSum(weights as number[], path))
  }
}

/** Shared with the plan: all weights 0 are refused, any other sum than 100 is only confusing. */
export function lintSum(weights: readonly number[], path: string): readonly Finding[] {
  const sum = weights.reduce((left, right) => left + right, 0)
  if (sum === 0) return [finding('TS-W04', path, `all weights are 0 (${weights.join('/')})`)]
  return sum === 100
    ? []
    : [finding('TS-W03', path, `weights ${weights.join('/')} add up to ${sum}, not 100`, 'warning')]
}

function lintStickiness(
  value: unknown,
  entries: readonly Fields[],
  path: string,
  isFinal: boolean | undefined,
  findings: Finding[],
): void {
  if (value === undefined) {
    if (entries.length > 1)
      findings.push(finding('TS-S05', path, 'left out: whatever the rule has now stays in force', 'warning'))
    return
  }
  if (!isFields(value)) {
    findings.push(finding('TS-S01', path, `expected an object, got ${describeValue(value)}`))
    return
  }
  const { enabled, durationSeconds } = normalize(value, STICKINESS_KEYS, path, findings)
  if (typeof enabled !== 'boolean') {
    findings.push(
      finding('TS-S01', `${path}.enabled`, `got ${describeValue(enabled)}; expected true or false without quotes`),
    )
  }
  const inRange =
    Number.isInteger(durationSeconds) && (durationSeconds as number) >= 1 && (durationSeconds as number) <= 604800
  if (!inRange && (enabled === true || durationSeconds !== undefined)) {
    findings.push(
      finding('TS-S01', `${path}.durationSeconds`, `got ${describeValue(durationSeconds)}; expected 1..604800`),
    )
  }
  const isOneSided = isFinal ?? entries.some((entry) => entry.serviceName !== undefined && entry.weight === 0)
  if (enabled === true && isOneSided && entries.length > 1) {
    findings.push(finding('TS-S02', `${path}.enabled`, 'stickiness stays on although one side has weight 0', 'warning'))
  }
}

/** Go's JSON reader matches keys in any case, so Argo's `ForwardConfig` is right and `wieght` is lost. */
function normalize(value: Fields, known: readonly string[], path: string, findings: Finding[]): Fields {
  const result: Fields = {}
  for (const [key, item] of Object.entries(value)) {
    const name = known.find((candidate) => candidate.toLowerCase() === key.toLowerCase())
    if (name === undefined)
      findings.push(finding('TS-A09', `${path}.${key}`, `unknown key ${key}${didYouMean(key, known)}`))
    else result[name] = item
  }
  return result
}

const fieldOf = (value: Fields, name: string): unknown =>
  Object.entries(value).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
