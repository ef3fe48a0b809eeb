/**
 * rollout   one act of bringing a commit somewhere, however many rows report it
 * view      one list of one tool. What it reports twice happened twice, so two rows of a view are never one rollout
 */
import { isPlainlyElsewhere } from '../policy/environment-names.ts'
import type { RolloutRule } from '../policy/policy.ts'

export interface SeenDeployment {
  readonly id: string
  readonly scope: string
  readonly view: string
  /** Recorded by a tool as a deployment, and not made here from the run of a pipeline. */
  readonly isNative: boolean
  readonly environment: string
  readonly result: string
  /** In milliseconds. */
  readonly started: number | null
  readonly finished: number | null
  /** Identifies the repositories: addresses in a uniform spelling, and ids. */
  readonly repositories: ReadonlySet<string>
  readonly commits: ReadonlySet<string>
}

/** Why a row belongs to its rollout, or represents it. */
export const ROLLOUT_REASONS = {
  alone: 'No other row tells of this rollout.',
  rule: 'A rule of the project joins it.',
  run: 'The tool says that this run made the deployment.',
  commit: 'It has the same repository, commit and environment at the same time.',
  'stands-by-result': 'It stands for the rollout because the others have no result yet.',
  'stands-as-deployment': 'It stands for the rollout because the tool records it as a deployment; the others are runs.',
  'stands-as-last': 'It stands for the rollout because it finished last.',
} as const
export type RolloutReason = keyof typeof ROLLOUT_REASONS
type Link = 'rule' | 'run' | 'commit'

interface Joined {
  readonly id: string
  /** Id of the deployment that represents the rollout. */
  readonly rollout: string
  readonly reason: RolloutReason
  /** The deployment by which the row's changes came to its environment. It is another one if the rollout failed or went elsewhere. */
  readonly arrived: SeenDeployment | undefined
}

/** Tools that follow a repository see what happened minutes later. */
const SLACK = 5 * 60_000

interface Cluster {
  readonly rows: SeenDeployment[]
  readonly views: Set<string>
}
interface Edge {
  readonly one: SeenDeployment
  readonly other: SeenDeployment
  readonly link: Link
}

interface JoiningInput {
  readonly deployments: readonly SeenDeployment[]
  /** The ids of the runs that made a deployment, as tools report them, by the id of the deployment. */
  readonly runs: ReadonlyMap<string, ReadonlySet<string>>
  readonly rules: readonly RolloutRule[]
}

export function joinRollouts({ deployments, runs, rules }: JoiningInput): Joined[] {
  const byId = new Map(deployments.map((each) => [each.id, each]))
  const clusters = new Map(deployments.map((each): [string, Cluster] => [each.id, clusterOf(each)]))
  const links = new Map<string, Link>()
  const isApart = apartBy(rules)
  const connect = ({ one, other, link }: Edge): void => {
    const [left, right] = [clusters.get(one.id) as Cluster, clusters.get(other.id) as Cluster]
    if (left === right) return
    if (link !== 'rule' && [...right.views].some((view) => left.views.has(view))) return
    if (isApart && left.rows.some((each) => right.rows.some((row) => isApart(each, row)))) return
    for (const row of right.rows) {
      left.rows.push(row)
      left.views.add(row.view)
      clusters.set(row.id, left)
    }
    for (const { id } of [one, other]) if (link === 'rule' || !links.has(id)) links.set(id, link)
  }
  for (const edge of edgesByRun(byId, runs)) connect(edge)
  for (const edge of edgesByCommit(deployments, runs)) connect(edge)
  // Rules come last, so that they join whole rollouts with all of their rows.
  for (const edge of edgesByRule(deployments, rules)) connect(edge)
  const joined = [...new Set(clusters.values())].flatMap((cluster) => resultOf(cluster, links))
  return withArrivals(joined)
}

const clusterOf = (row: SeenDeployment): Cluster => ({ rows: [row], views: new Set([row.view]) })

const isNamed = ({ id, scope }: SeenDeployment, name: string) => id === name || scope === name

/** Returns a function that tells which pairs a rule keeps apart, or undefined if there is no such rule. */
function apartBy(rules: readonly RolloutRule[]) {
  const lists = rules.flatMap(({ apart }) => (apart ? [apart] : []))
  if (lists.length === 0) return undefined
  const isBetween = (names: readonly string[], one: SeenDeployment, other: SeenDeployment) =>
    names.length === 1
      ? names.some((name) => isNamed(one, name) || isNamed(other, name))
      : names.some((name) => isNamed(one, name) && names.some((next) => next !== name && isNamed(other, next)))
  return (one: SeenDeployment, other: SeenDeployment) => lists.some((names) => isBetween(names, one, other))
}

const isOneRepository = (one: SeenDeployment, other: SeenDeployment): boolean =>
  [...one.repositories].some((name) => other.repositories.has(name))

/** A rollout belongs to one repository: deployments of several repositories stay apart even if a rule names them together. */
function* edgesByRule(deployments: readonly SeenDeployment[], rules: readonly RolloutRule[]): Generator<Edge> {
  for (const { join = [] } of rules) {
    const named = join.map((name) => deployments.filter((each) => isNamed(each, name)))
    for (const [index, rows] of named.entries()) {
      for (const others of named.slice(index + 1)) {
        const edges = rows.flatMap((one) =>
          others
            .filter((other) => one !== other && isOneRepository(one, other))
            // If a rule names only scopes, only deployments that could be one rollout are joined, because nobody named the deployments themselves.
            .filter(
              (other) => isByName(join, one, other) || (one.environment === other.environment && isNear(one, other)),
            )
            .map((other): Edge => ({ one, other, link: 'rule' })),
        )
        yield* onceEach(edges.sort(byCloseness), join)
      }
    }
  }
}
const isByName = (names: readonly string[], one: SeenDeployment, other: SeenDeployment) =>
  names.includes(one.id) || names.includes(other.id)

/** If a rule names only scopes, each deployment gets one partner, the closest. */
function* onceEach(edges: readonly Edge[], names: readonly string[]): Generator<Edge> {
  const taken = new Set<string>()
  for (const edge of edges) {
    const isByScopes = !isByName(names, edge.one, edge.other)
    if (isByScopes && (taken.has(edge.one.id) || taken.has(edge.other.id))) continue
    taken.add(edge.one.id).add(edge.other.id)
    yield edge
  }
}

/**
 * A run is assumed to be where its deployments went, even if rules for runs say otherwise: without a mapping of environments,
 * every run counts as one to production. A deployment whose environment is not known decides nothing.
 */
function edgesByRun(byId: ReadonlyMap<string, SeenDeployment>, runs: JoiningInput['runs']): Edge[] {
  const made = new Map<SeenDeployment, SeenDeployment[]>()
  for (const [id, own] of runs) {
    const deployment = byId.get(id)
    if (!deployment) continue
    for (const runId of own) {
      const run = byId.get(runId)
      if (run && run !== deployment) made.set(run, [...(made.get(run) ?? []), deployment])
    }
  }
  const isSame = ({ one, other }: Edge) => one.environment === other.environment
  const edges = [...made].flatMap(([run, deployments]) => {
    const all = deployments.map((other): Edge => ({ one: run, other, link: 'run' }))
    const isElsewhere = deployments.every(({ environment }) => isPlainlyElsewhere(environment))
    return isElsewhere ? all : all.filter(isSame)
  })
  const rank = (edge: Edge) => (isSame(edge) ? 0 : 2) + (edge.one.result === edge.other.result ? 0 : 1)
  return edges.sort((one, other) => rank(one) - rank(other) || byCloseness(one, other))
}

const isDecided = ({ result }: SeenDeployment) => result === 'SUCCESS' || result === 'FAILURE'
const startOf = ({ started, finished }: SeenDeployment) => started ?? finished
const endOf = ({ started, finished }: SeenDeployment) => finished ?? started

function isNear(one: SeenDeployment, other: SeenDeployment): boolean {
  const [from, to, otherFrom, otherTo] = [startOf(one), endOf(one), startOf(other), endOf(other)]
  if (from === null || to === null || otherFrom === null || otherTo === null) return false
  return from <= otherTo + SLACK && otherFrom <= to + SLACK
}

const distance = ({ one, other }: Edge) => Math.abs((endOf(one) ?? 0) - (endOf(other) ?? 0))
const byCloseness = (left: Edge, right: Edge) =>
  distance(left) - distance(right) ||
  (left.one.id < right.one.id ? -1 : left.one.id > right.one.id ? 1 : left.other.id < right.other.id ? -1 : 1)

/** The tool itself distinguishes the two: `one` is a deployment that another run than `other` made. */
const isOfAnotherRun = (runs: JoiningInput['runs'], one: SeenDeployment, other: SeenDeployment) =>
  one.scope === other.scope && !other.isNative && runs.has(one.id) && !runs.get(one.id)?.has(other.id)

function edgesByCommit(deployments: readonly SeenDeployment[], runs: JoiningInput['runs']): Edge[] {
  const byPlace = new Map<string, SeenDeployment[]>()
  for (const each of deployments) {
    if (startOf(each) === null || each.environment === '') continue
    for (const commit of each.commits) {
      const place = `${each.environment} ${commit}`
      const own = byPlace.get(place)
      if (own) own.push(each)
      else byPlace.set(place, [each])
    }
  }
  const edges = [...byPlace.values()].flatMap((own) => [...neighbours(own)])
  const isOne = ({ one, other }: Edge) =>
    one.view !== other.view &&
    isOneRepository(one, other) &&
    (!isDecided(one) || !isDecided(other) || one.result === other.result) &&
    !isOfAnotherRun(runs, one, other) &&
    !isOfAnotherRun(runs, other, one)
  return edges.filter(isOne).sort(byCloseness)
}

/** Finds pairs that are near in time, without comparing every row with every other. */
function* neighbours(rows: SeenDeployment[]): Generator<Edge> {
  const inOrder = rows.sort((one, other) => (startOf(one) as number) - (startOf(other) as number))
  for (const [index, one] of inOrder.entries()) {
    const end = (endOf(one) as number) + SLACK
    for (let next = index + 1; next < inOrder.length; next++) {
      const other = inOrder[next] as SeenDeployment
      if ((startOf(other) as number) > end) break
      yield one.id < other.id ? { one, other, link: 'commit' } : { one: other, other: one, link: 'commit' }
    }
  }
}

/** The criteria that choose the row that represents a rollout, in this order. */
const MARKS: readonly (readonly [RolloutReason, (row: SeenDeployment) => number])[] = [
  ['stands-by-result', (row) => Number(isDecided(row) && row.finished !== null)],
  ['stands-as-deployment', (row) => Number(row.isNative)],
  ['stands-as-last', (row) => endOf(row) ?? 0],
]

interface Standing extends Omit<Joined, 'arrived'> {
  readonly row: SeenDeployment
  readonly stands: SeenDeployment
}

function resultOf({ rows }: Cluster, links: ReadonlyMap<string, Link>): Standing[] {
  const [first] = rows
  if (!first) return []
  if (rows.length === 1) return [{ id: first.id, rollout: first.id, reason: 'alone', row: first, stands: first }]
  const better = (one: SeenDeployment, other: SeenDeployment) => {
    for (const [, mark] of MARKS) if (mark(one) !== mark(other)) return mark(one) > mark(other)
    return one.id < other.id
  }
  const stands = rows.reduce((best, row) => (better(row, best) ? row : best))
  const others = rows.filter((row) => row !== stands)
  const decisive = MARKS.find(([, mark]) => others.every((row) => mark(row) < mark(stands)))
  return rows.map((row) => ({
    id: row.id,
    rollout: stands.id,
    reason: row === stands ? (decisive?.[0] ?? 'stands-as-last') : (links.get(row.id) ?? 'commit'),
    row,
    stands,
  }))
}

const isArrival = (row: SeenDeployment, { result, environment }: SeenDeployment) =>
  result === 'SUCCESS' && environment === row.environment

/** If the rollout of a row did not bring its changes, finds the next rollout that did. */
function withArrivals(all: readonly Standing[]): Joined[] {
  const isLost = ({ row, stands }: Standing) => row !== stands && !isArrival(row, stands)
  const lost = all.filter(isLost)
  const places = ({ environment, repositories }: SeenDeployment) =>
    [...repositories].map((repository) => `${environment} ${repository}`)
  const wanted = new Set(lost.flatMap(({ row }) => places(row)))
  const later = new Map<string, SeenDeployment[]>()
  for (const { row, stands } of all) {
    if (row !== stands || row.result !== 'SUCCESS' || row.finished === null) continue
    for (const place of places(row)) {
      if (wanted.has(place)) later.set(place, [...(later.get(place) ?? []), row])
    }
  }
  const nextOf = (row: SeenDeployment) =>
    places(row)
      .flatMap((place) => later.get(place) ?? [])
      .filter(({ finished }) => (finished ?? 0) >= (row.finished ?? Number.POSITIVE_INFINITY))
      .sort((one, other) => (one.finished ?? 0) - (other.finished ?? 0) || (one.id < other.id ? -1 : 1))[0]
  return all.map((each) => ({
    id: each.id,
    rollout: each.rollout,
    reason: each.reason,
    arrived: isLost(each) ? nextOf(each.row) : each.stands,
  }))
}
