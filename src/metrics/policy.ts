/**
 * Repairs of what the reference's rules get wrong, each a switch of its own. All are off in `REFERENCE`, so that the
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
  /** An incident is held against a deployment of at most so many hours before. Null: however long ago. */
  readonly blameWithinHours: number | null
  /** An incident is held against a deployment of the scope that its component names. */
  readonly blameByService: boolean
}

export const REFERENCE: Policy = {
  firstDeploymentDays: null,
  linkSquashed: false,
  countTrunkCommits: false,
  excludeBots: false,
  blameWithinHours: null,
  blameByService: false,
}

const STANDARD = new Map<string, unknown>(Object.entries(REFERENCE))

export interface NamedPolicy {
  readonly name: string
  readonly meaning: string
  readonly policy: Policy
}

/** Each repair alone, for comparison with the reference. */
export const POLICIES: readonly NamedPolicy[] = [
  { name: 'reference', meaning: 'The rules of the reference.', policy: REFERENCE },
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
    meaning: 'An incident is held against a deployment of the 48 hours before it, or against none.',
    policy: { ...REFERENCE, blameWithinHours: 48 },
  },
  {
    name: 'blame-by-service',
    meaning: 'An incident is held against a deployment of the scope that its component names.',
    policy: { ...REFERENCE, blameByService: true },
  },
]

/** A policy from stored or sent settings; what is not set is as in the reference. */
export function policyOf(settings: Readonly<Record<string, unknown>> = {}): Policy {
  for (const [name, value] of Object.entries(settings)) {
    if (!STANDARD.has(name)) {
      throw new UserError(`policy: ${shortName(name)} is not known${hintOf(name, [...STANDARD.keys()])}`)
    }
    const isSwitch = typeof STANDARD.get(name) === 'boolean'
    const isFine = isSwitch ? typeof value === 'boolean' : value === null || (typeof value === 'number' && value > 0)
    if (!isFine)
      throw new UserError(`policy: ${name} must be ${isSwitch ? 'true or false' : 'a positive number or null'}.`)
  }
  return { ...REFERENCE, ...settings }
}

export const changesLinks = ({ firstDeploymentDays, linkSquashed }: Policy): boolean =>
  firstDeploymentDays !== null || linkSquashed
export const changesBlame = ({ blameWithinHours, blameByService }: Policy): boolean =>
  blameWithinHours !== null || blameByService
