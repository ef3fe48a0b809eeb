/**
 * Repairs of what DevLake's rules get wrong, each a switch of its own. All are off in `REFERENCE`, so that the
 * numbers are its numbers until somebody decides otherwise and has seen the difference.
 */

import { UserError } from '../errors.ts'
import { hintOf, shortName } from '../nearest.ts'

export interface Policy {
  /** The first deployment claims what was merged in so many days before it. Null: it claims nothing. */
  readonly firstDeploymentDays: number | null
  /** A pull request is also found by its own commits, by a commit of the same author and date, or by `(#12)`. */
  readonly linkSquashed: boolean
  /** Commits of no pull request count as changes too, from authoring to deployment. */
  readonly countTrunkCommits: boolean
  /** Pull requests of bots are left out. */
  readonly excludeBots: boolean
  /** An incident is attributed to a deployment of at most so many hours before. Null: however long ago. */
  readonly blameWithinHours: number | null
  /** An incident is attributed to a deployment of the scope that its component names. */
  readonly blameByService: boolean
  /**
   * default          an incident is attributed to the latest deployment before it
   * service-report   chosen incidents are relative to all deployments, and take as long as they say themselves
   */
  readonly pairing: Pairing
  /** Words of `x_issue_category` that the service report chooses. Null: any. */
  readonly issueCategories: readonly string[] | null
  /** The service that the report is about: `component` of its incidents. Null: any. */
  readonly component: string | null
}
const PAIRINGS = ['default', 'service-report'] as const
export type Pairing = (typeof PAIRINGS)[number]

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
}

export const LONGEST_WORD = 255
export const MOST_CATEGORIES = 100
const isWord = (value: unknown) => typeof value === 'string' && value !== '' && value.length <= LONGEST_WORD

const STANDARD = new Map<string, unknown>(Object.entries(REFERENCE))

export interface NamedPolicy {
  readonly name: string
  readonly meaning: string
  readonly policy: Policy
}

/** Each repair alone, for comparison with DevLake. */
export const POLICIES: readonly NamedPolicy[] = [
  { name: 'reference', meaning: 'The rules of DevLake.', policy: REFERENCE },
  {
    name: 'first-deployment',
    meaning: 'The first deployment counts for pull requests merged in the 30 days before it.',
    policy: { ...REFERENCE, firstDeploymentDays: 30 },
  },
  {
    name: 'squash-and-rebase',
    meaning: 'Squashed and rebased pull requests are found by their commits or by the message.',
    policy: { ...REFERENCE, linkSquashed: true },
  },
  {
    name: 'trunk-based',
    meaning: 'Commits without a pull request count as changes.',
    policy: { ...REFERENCE, countTrunkCommits: true },
  },
  { name: 'no-bots', meaning: 'Pull requests of bots are left out.', policy: { ...REFERENCE, excludeBots: true } },
  {
    name: 'blame-window',
    meaning: 'An incident is attributed to a deployment of the 48 hours before it, or to none.',
    policy: { ...REFERENCE, blameWithinHours: 48 },
  },
  {
    name: 'blame-by-service',
    meaning: 'An incident is attributed to a deployment of the scope that its component names.',
    policy: { ...REFERENCE, blameByService: true },
  },
  {
    name: 'service-report',
    meaning:
      'Incidents of the chosen categories and component are divided by all deployments. The recovery time comes from the incident itself.',
    policy: { ...REFERENCE, pairing: 'service-report' },
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
])
const ruleOf = (name: string): Rule => OTHERS.get(name) ?? (typeof STANDARD.get(name) === 'boolean' ? SWITCH : AMOUNT)

/** A policy from stored or sent settings; what is not set is as in DevLake. */
export function policyOf(settings: Readonly<Record<string, unknown>> = {}): Policy {
  for (const [name, value] of Object.entries(settings)) {
    if (!STANDARD.has(name)) {
      throw new UserError(`policy: ${shortName(name)} is not known${hintOf(name, [...STANDARD.keys()])}`)
    }
    const { isFine, must } = ruleOf(name)
    if (!isFine(value)) throw new UserError(`policy: ${name} must be ${must}.`)
  }
  return { ...REFERENCE, ...settings }
}

export const changesLinks = ({ firstDeploymentDays, linkSquashed }: Policy): boolean =>
  firstDeploymentDays !== null || linkSquashed
export const changesBlame = ({ blameWithinHours, blameByService }: Policy): boolean =>
  blameWithinHours !== null || blameByService
