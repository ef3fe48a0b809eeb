/**
 * Repairs of DevLake's rules where they are wrong, each with its own switch. All are off in `REFERENCE`, which counts as DevLake
 * does. In `DEFAULT_POLICY`, for projects that choose nothing, one is on: a rollout counts once.
 */

import { hintOf, shortName } from '../../basics/nearest.ts'
import { UserError } from '../../errors.ts'

export interface Policy {
  /** The first deployment counts for changes that were merged at most this many days before it. Null: it counts for none. */
  readonly firstDeploymentDays: number | null
  /** A pull request is also found by its own commits, by a commit of the same author and date, or by `(#12)`. */
  readonly linkSquashed: boolean
  /** Commits that belong to no pull request count as changes too, from authoring to deployment. */
  readonly countTrunkCommits: boolean
  /** Pull requests of bots are left out. */
  readonly excludeBots: boolean
  /** An incident is attributed to a deployment that finished at most this many hours before it. Null: without a limit. */
  readonly blameWithinHours: number | null
  /** An incident is attributed only to a deployment of the scope that its component names. */
  readonly blameByService: boolean
  /**
   * default          an incident is attributed to the latest deployment before it
   * service-report   the chosen incidents are divided by all deployments, and take as long as they report themselves
   */
  readonly pairing: Pairing
  /** Categories (`x_issue_category`) that the service report chooses. Null: any. */
  readonly issueCategories: readonly string[] | null
  /** The service that the report is about, which is the `component` of its incidents. Null: any. */
  readonly component: string | null
  /**
   * once        a rollout that several rows report counts once
   * every-row   each row of a deployment counts, as in DevLake
   * as-stored   as the project has chosen, for statements that outlive its policy; nobody can choose this value
   */
  readonly rollouts: Rollouts
  /** Rules that join deployments into one rollout or keep them apart, whatever is calculated. Null: none. */
  readonly rolloutRules: readonly RolloutRule[] | null
}
const ROLLOUTS = ['once', 'every-row'] as const
type Rollouts = (typeof ROLLOUTS)[number] | 'as-stored'
/** Returns which of the two is in force, as answers of the API name it. */
export const rolloutsIn = ({ rollouts }: Pick<Policy, 'rollouts'>): (typeof ROLLOUTS)[number] =>
  rollouts === 'every-row' ? 'every-row' : 'once'

/** Holds ids of deployments, or of scopes for all of their deployments. Either `join` or `apart` is set. */
export interface RolloutRule {
  /** These are one rollout, though nothing in the data says so. */
  readonly join?: readonly string[]
  /** These are never one rollout. A single id is kept apart from everything. */
  readonly apart?: readonly string[]
}
const PAIRINGS = ['default', 'service-report'] as const
type Pairing = (typeof PAIRINGS)[number]

export const REFERENCE: Policy = {
  firstDeploymentDays: null,
  linkSquashed: false,
  countTrunkCommits: false,
  excludeBots: false,
  blameWithinHours: null,
  blameByService: false,
  pairing: 'default',
  issueCategories: null,
  component: null,
  rollouts: 'every-row',
  rolloutRules: null,
}
export const DEFAULT_POLICY: Policy = { ...REFERENCE, rollouts: 'once' }

export const LONGEST_WORD = 255
export const MOST_CATEGORIES = 100
const isWord = (value: unknown) => typeof value === 'string' && value !== '' && value.length <= LONGEST_WORD

const STANDARD = new Map<string, unknown>(Object.entries(DEFAULT_POLICY))

const MOST_RULES = 100
const MOST_IDS = 20
function isRolloutRule(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  const [[kind, ids] = [], ...others] = Object.entries(value)
  const least = { join: 2, apart: 1 }[kind as string]
  if (least === undefined || others.length > 0 || !Array.isArray(ids)) return false
  return ids.length >= least && ids.length <= MOST_IDS && ids.every(isWord) && new Set(ids).size === ids.length
}

export interface NamedPolicy {
  readonly name: string
  readonly meaning: string
  readonly policy: Policy
}

/** Each repair alone, to compare it with the policy of projects that choose nothing. */
export const POLICIES: readonly NamedPolicy[] = [
  { name: 'reference', meaning: 'The rules of DevLake, which count every row.', policy: REFERENCE },
  {
    name: 'every-row',
    meaning: 'Every row of a deployment counts, as in DevLake, even if several tell of one rollout.',
    policy: { ...DEFAULT_POLICY, rollouts: 'every-row' },
  },
  {
    name: 'first-deployment',
    meaning: 'The first deployment counts for pull requests merged in the 30 days before it.',
    policy: { ...DEFAULT_POLICY, firstDeploymentDays: 30 },
  },
  {
    name: 'squash-and-rebase',
    meaning: 'Squashed and rebased pull requests are found by their commits or by the message.',
    policy: { ...DEFAULT_POLICY, linkSquashed: true },
  },
  {
    name: 'trunk-based',
    meaning: 'Commits without a pull request count as changes.',
    policy: { ...DEFAULT_POLICY, countTrunkCommits: true },
  },
  { name: 'no-bots', meaning: 'Pull requests of bots are left out.', policy: { ...DEFAULT_POLICY, excludeBots: true } },
  {
    name: 'blame-window',
    meaning: 'An incident is attributed to a deployment of the 48 hours before it, or to none.',
    policy: { ...DEFAULT_POLICY, blameWithinHours: 48 },
  },
  {
    name: 'blame-by-service',
    meaning: 'An incident is attributed to a deployment of the scope that its component names.',
    policy: { ...DEFAULT_POLICY, blameByService: true },
  },
  {
    name: 'service-report',
    meaning:
      'Incidents of the chosen categories and component are divided by all deployments. The recovery time comes from the incident itself.',
    policy: { ...DEFAULT_POLICY, pairing: 'service-report' },
  },
]

interface Rule {
  readonly isFine: (value: unknown) => boolean
  readonly must: string
}
const SWITCH: Rule = { isFine: (value) => typeof value === 'boolean', must: 'true or false' }
const AMOUNT: Rule = {
  isFine: (value) => value === null || (typeof value === 'number' && value > 0),
  must: 'a positive number or null',
}
const OTHERS = new Map<string, Rule>([
  ['pairing', { isFine: (value) => PAIRINGS.includes(value as Pairing), must: PAIRINGS.join(' or ') }],
  [
    'issueCategories',
    {
      isFine: (value) =>
        value === null ||
        (Array.isArray(value) && value.length > 0 && value.length <= MOST_CATEGORIES && value.every(isWord)),
      must: `null, or a list of 1 to ${MOST_CATEGORIES} words of at most ${LONGEST_WORD} characters`,
    },
  ],
  [
    'component',
    { isFine: (value) => value === null || isWord(value), must: `null, or 1 to ${LONGEST_WORD} characters` },
  ],
  ['rollouts', { isFine: (value) => ROLLOUTS.some((each) => each === value), must: ROLLOUTS.join(' or ') }],
  [
    'rolloutRules',
    {
      isFine: (value) =>
        value === null || (Array.isArray(value) && value.length <= MOST_RULES && value.every(isRolloutRule)),
      must: `null, or a list of at most ${MOST_RULES} rules: {"join": [two or more ids]} or {"apart": [one or more ids]}, of deployments or scopes, each once and at most ${MOST_IDS}`,
    },
  ],
])
const ruleOf = (name: string): Rule => OTHERS.get(name) ?? (typeof STANDARD.get(name) === 'boolean' ? SWITCH : AMOUNT)

/** Makes a policy from stored or sent settings. Settings that are missing are taken from `DEFAULT_POLICY`. */
export function policyOf(settings: Readonly<Record<string, unknown>> = {}): Policy {
  for (const [name, value] of Object.entries(settings)) {
    if (!STANDARD.has(name)) {
      throw new UserError(`policy: ${shortName(name)} is not known${hintOf(name, [...STANDARD.keys()])}`)
    }
    const { isFine, must } = ruleOf(name)
    if (!isFine(value)) throw new UserError(`policy: ${name} must be ${must}.`)
  }
  return { ...DEFAULT_POLICY, ...settings }
}

export const changesLinks = ({ firstDeploymentDays, linkSquashed }: Policy): boolean =>
  firstDeploymentDays !== null || linkSquashed
export const changesBlame = ({ blameWithinHours, blameByService }: Policy): boolean =>
  blameWithinHours !== null || blameByService
