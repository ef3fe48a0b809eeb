/** Finds commits in the links of issues: turns the patterns of users into regular expressions, and looks at the links of an issue. */

import { byName } from '../../basics/by-name.ts'
import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { Groups, Pattern } from '../../plugin-kit/index.ts'

const PARTS: Readonly<Record<string, string>> = byName({ namespace: '\\S+', repo_name: '\\S+', commit_sha: '\\w{40}' })
const PART_NAMES = Object.keys(PARTS)
const PLACEHOLDER = /\{(namespace|repo_name|commit_sha)\}/

/** Turns an address with `{namespace}`, `{repo_name}` and `{commit_sha}` in it into a regular expression that finds them. */
export function commitRegex(address: string): string {
  // Every other piece is the name of a placeholder.
  const pieces = address.split(PLACEHOLDER)
  for (const name of PART_NAMES) {
    const count = pieces.filter((piece, index) => index % 2 === 1 && piece === name).length
    if (count !== 1) throw new UserError(`pattern must contain {${name}} once.`)
  }
  return pieces
    .map((piece, index) =>
      index % 2 === 1 ? `(?P<${piece}>${PARTS[piece]})` : piece.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
    )
    .join('')
}

export interface RepoCommit {
  readonly namespace: string
  readonly repo_name: string
  readonly commit_sha: string
}

/** Either three groups (namespace, repository and sha in this order), or groups with these names. Other groups do not describe a commit. */
const areCommitGroups = ({ count, named }: Omit<Groups, 'found'>): boolean =>
  count === 3 || PART_NAMES.every((name) => name in named)
export const isCommitPattern = (pattern: Pattern): boolean =>
  areCommitGroups({ count: pattern.groupCount(), named: pattern.namedGroups() })

export function repoCommitIn(pattern: Pattern, url: string): RepoCommit | undefined {
  const matcher = pattern.matcher(url)
  return matcher.find() ? commitOf(pattern.namedGroups(), (group) => matcher.group(group)) : undefined
}

function commitOf(
  named: Groups['named'],
  groupOf: (group: number) => string | null | undefined,
): RepoCommit | undefined {
  const [namespace, repo_name, commit_sha] = PART_NAMES.map((name, index) => groupOf(named[name] ?? index + 1))
  return namespace && repo_name && commit_sha ? { namespace, repo_name, commit_sha } : undefined
}

const NOTHING: RepoCommit = { namespace: '', repo_name: '', commit_sha: '' }

/** Returns the commit that a regular expression found in each address, with empty texts where it found none. */
export function commitsIn(groups: Groups): RepoCommit[] {
  if (!areCommitGroups(groups)) {
    throw new UserError(`regex must have the groups ${PART_NAMES.map((name) => `(?P<${name}>…)`).join(', ')}.`)
  }
  return groups.found.map((each) => (each && commitOf(groups.named, (group) => each[group - 1])) ?? NOTHING)
}

/** Asks Jira for JSON. */
export type AskJira = (path: string, query: Record<string, string>) => Promise<RawRecord>

async function issueId(ask: AskJira, key: string): Promise<string> {
  return (await ask(`api/2/issue/${encodeURIComponent(key)}`, { fields: 'id' })).id
}

/** Returns the kinds of code hosts that commits of an issue come from, as the development panel names them. */
export async function applicationTypes(ask: AskJira, key: string): Promise<string[]> {
  const { summary } = await ask('dev-status/1.0/issue/summary', { issueId: await issueId(ask, key) })
  return Object.keys(summary?.repository?.byInstanceType ?? {}).sort()
}

const MOST_COMMITS = 5
const writtenAt = ({ authorTimestamp }: RawRecord): number => Date.parse(authorTimestamp) || 0

/** Returns the addresses of the newest commits of an issue. */
export async function developmentCommits(ask: AskJira, key: string, applicationType: string): Promise<string[]> {
  const query = { issueId: await issueId(ask, key), applicationType, dataType: 'repository' }
  const { detail } = await ask('dev-status/1.0/issue/detail', query)
  const repositories: RawRecord[] = (detail ?? []).flatMap((each: RawRecord) => each.repositories ?? [])
  return repositories
    .flatMap(({ commits }) => commits ?? [])
    .sort((one, other) => writtenAt(other) - writtenAt(one))
    .slice(0, MOST_COMMITS)
    .map(({ url }) => url)
}
