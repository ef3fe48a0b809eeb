/** Checks whether the rules of a project about its rollouts can be followed. */
import { sql } from 'kysely'
import { shortName } from '../../basics/nearest.ts'
import type { AnyKysely } from '../../database/kysely.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import { UserError } from '../../errors.ts'
import { addressOf } from '../calculate/rollouts.ts'
import type { RolloutRule } from './policy.ts'

interface CheckedRule {
  readonly rule: RolloutRule
  /** The reason why the rule has no effect; null if it is followed. */
  readonly problem: string | null
  /** True if the rule can never work, whatever is collected later. */
  readonly isRefused: boolean
}

/** For each name in the rules, of a deployment or a scope: the addresses and ids of its repositories. */
type Repositories = ReadonlyMap<string, ReadonlyMap<string, string>>

async function repositoriesOf(queries: AnyKysely, names: readonly string[]): Promise<Repositories> {
  const found = new Map<string, Map<string, string>>()
  for (const column of ['cicd_deployment_id', 'cicd_scope_id']) {
    const rows = await readByKeys(names, async (piece) => {
      const some = sql<{ name: string; repo_id: string; repo_url: string }>`select distinct ${sql.ref(column)} as name,
        coalesce(repo_id, '') as repo_id, coalesce(repo_url, '') as repo_url from cicd_deployment_commits
        where ${among(sql.ref(column), piece)}`
      return (await some.execute(queries)).rows
    })
    for (const { name, repo_id, repo_url } of rows) {
      const own = found.get(name) ?? new Map<string, string>()
      found.set(name, own)
      for (const mark of [repo_id, addressOf(repo_url)]) if (mark) own.set(mark, repo_url || repo_id)
    }
  }
  return found
}

export async function checkRules(queries: AnyKysely, rules: readonly RolloutRule[]): Promise<CheckedRule[]> {
  const names = [...new Set(rules.flatMap(({ join = [], apart = [] }) => [...join, ...apart]))]
  if (names.length === 0) return []
  const known = await repositoriesOf(queries, names)
  return rules.map((rule, index) => {
    const own = rule.join ?? rule.apart ?? []
    const [unknown] = own.filter((name) => !known.has(name))
    if (unknown !== undefined)
      return { rule, problem: `There is no deployment or scope ${shortName(unknown)} yet.`, isRefused: false }
    const problem = rule.join ? ofTwoRepositories(rule.join, known, index + 1) : null
    return { rule, problem, isRefused: problem !== null }
  })
}

function ofTwoRepositories(names: readonly string[], known: Repositories, place: number): string | null {
  const [first, ...others] = names.map((name) => ({ name, repositories: known.get(name) ?? new Map<string, string>() }))
  for (const other of others) {
    if (!first || [...other.repositories.keys()].some((mark) => first.repositories.has(mark))) continue
    const named = [first, other].map(
      ({ name, repositories }) =>
        `${shortName(name)} of ${shortName([...repositories.values()][0] ?? 'no repository')}`,
    )
    return `policy: rolloutRules: rule ${place} joins ${named.join(' and ')}. A rollout is of one repository: name deployments or scopes of one.`
  }
  return null
}

/** Refuses rules that can never be followed. A rule about data that is not collected yet is accepted. */
export async function requireRules(queries: AnyKysely, rules: readonly RolloutRule[]): Promise<void> {
  const refused = (await checkRules(queries, rules)).find(({ isRefused }) => isRefused)
  if (refused?.problem) throw new UserError(refused.problem)
}
