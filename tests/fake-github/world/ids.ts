import type { Dice } from './dice.ts'

/** Prefixes of GitHub's global node ids, by kind of record. Their order also separates the database ids of the kinds. */
const KINDS = {
  issue: 'I',
  pull: 'PR',
  label: 'LA',
  milestone: 'MI',
  comment: 'IC',
  event: 'EV',
  review: 'PRR',
  reviewComment: 'PRRC',
  run: 'WFR',
  checkSuite: 'CS',
  job: 'CR',
  deployment: 'DE',
  deploymentStatus: 'DES',
  release: 'RE',
  workflow: 'W',
} as const
export type Kind = keyof typeof KINDS
const ORDINALS = Object.keys(KINDS) as Kind[]

/** A child's index is `parent * CHILD_SPAN + ordinal`. */
export const CHILD_SPAN = 1000
const KIND_SPAN = 1e14
const REPOSITORY_SPAN = 1e11
/** GitHub's ids exceeded 2^31 long ago. All ids here exceed it, so that 32-bit handling is noticed. */
const FIRST_REPOSITORY = 3

export const databaseId = (kind: Kind, repository: number, index: number): number =>
  ORDINALS.indexOf(kind) * KIND_SPAN + (FIRST_REPOSITORY + repository) * REPOSITORY_SPAN + index

/** Returns the repository's ordinal and the record's index for a database id of this kind. */
export function parseDatabaseId(kind: Kind, id: number): { repository: number; index: number } | undefined {
  const rest = id - ORDINALS.indexOf(kind) * KIND_SPAN
  if (!Number.isInteger(rest) || rest < FIRST_REPOSITORY * REPOSITORY_SPAN || rest >= KIND_SPAN) return undefined
  return { repository: Math.floor(rest / REPOSITORY_SPAN) - FIRST_REPOSITORY, index: rest % REPOSITORY_SPAN }
}

export const nodeId = (kind: Kind, id: number): string => globalId(KINDS[kind], String(id))
export const globalId = (prefix: string, value: string): string =>
  `${prefix}_${Buffer.from(value).toString('base64url')}`

export function parseNodeId(node: string): { prefix: string; value: string; kind: Kind | undefined } {
  const separator = node.indexOf('_')
  const prefix = node.slice(0, separator)
  return {
    prefix,
    value: Buffer.from(node.slice(separator + 1), 'base64url').toString(),
    kind: ORDINALS.find((kind) => KINDS[kind] === prefix),
  }
}

/** A commit's name encodes its place, so that each commit can be found without a table of all. */
const COMMIT_KINDS = { branch: 'a', pull: 'b', merge: 'c' } as const
export type CommitKind = keyof typeof COMMIT_KINDS

export function sha(dice: Dice, kind: CommitKind, repository: number, index: number): string {
  const head = COMMIT_KINDS[kind] + repository.toString(16).padStart(3, '0') + index.toString(16).padStart(10, '0')
  return head + dice.hex('sha', 26, repository, index)
}

export function parseSha(text: string): { kind: CommitKind; repository: number; index: number } | undefined {
  const kind = (Object.keys(COMMIT_KINDS) as CommitKind[]).find((name) => COMMIT_KINDS[name] === text[0])
  if (kind === undefined || !/^[0-9a-f]{40}$/.test(text)) return undefined
  return { kind, repository: Number.parseInt(text.slice(1, 4), 16), index: Number.parseInt(text.slice(4, 14), 16) }
}
