/**
 * A generated organisation with known answers: every row is planted together with what must be counted, what must be left
 * out, and why. The truth is plain arithmetic on the planted dates and uses no statement of the product.
 */
import { createHash } from 'node:crypto'
import type { TableRow } from '../../src/database/table.ts'
import { commitParents, commits, repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdPipelineCommits, cicdPipelines, cicdScopes, cicdTasks } from '../../src/domain/devops.ts'
import { pullRequestComments, pullRequestCommits, pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, boards, issues } from '../../src/domain/ticket.ts'
import type { Reason } from '../../src/metrics/metric.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const START = Date.UTC(2024, 0, 1)

export interface TruePullRequest {
  readonly id: string
  readonly reason: Reason | null
  readonly deployed: number | null
  readonly created: number
  readonly merged: number | null
  readonly coding: number | null
  readonly pickup: number | null
  readonly review: number | null
  readonly deploy: number | null
  readonly cycle: number
  readonly comments: number
  readonly lines: number
}
export interface TrueDeployment {
  readonly id: string
  readonly reason: Reason | null
  readonly finished: number
  readonly hasFailed: boolean
  readonly isRework: boolean
}
export interface TrueIncident {
  readonly id: string
  readonly reason: Reason | null
  readonly deployment: number | null
  readonly created: number
  readonly resolved: number | null
}
export interface TrueBuild {
  readonly finished: number
  readonly isCounted: boolean
  readonly hasSucceeded: boolean
  readonly seconds: number
}
export interface Truth {
  readonly project: string
  readonly pullRequests: TruePullRequest[]
  readonly deployments: TrueDeployment[]
  readonly incidents: TrueIncident[]
  readonly builds: TrueBuild[]
  readonly issuesResolved: { at: number; minutes: number }[]
  readonly issuesOpen: number
}
export interface Organisation {
  readonly rows: TableRow[]
  readonly truths: Truth[]
}

const sha = (...parts: unknown[]) => createHash('sha1').update(parts.join('/')).digest('hex')
const at = (time: number) => new Date(time)
/** Minutes, rounded up. Null if the clock ran backwards by a minute or more. */
export const span = (start: number, end: number): number | null => {
  const minutes = Math.ceil((end - start) / MINUTE)
  return minutes < 0 ? null : minutes + 0
}

/** Repeatable numbers from 0 to below `limit`. */
function dice(seed: number): (limit: number) => number {
  let state = seed * 2654435761 + 12345
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return (state >>> 0) % limit
  }
}

type Planned = 'success' | 'failure' | 'skipped' | 'staging' | 'twin'
/** The kind of deployment in each step of the timeline. */
const STEPS: readonly Planned[] = ['success', 'success', 'twin', 'failure', 'success', 'staging', 'success', 'skipped']

function plant(project: string, index: number, steps: number): { rows: TableRow[]; truth: Truth } {
  const roll = dice(index + 1)
  const rows: TableRow[] = []
  const truth: Truth = {
    project,
    pullRequests: [],
    deployments: [],
    incidents: [],
    builds: [],
    issuesResolved: [],
    issuesOpen: 0,
  }
  const scope = `plant:Scope:${index}`
  const board = `plant:Board:${index}`
  const repository = (number: number) => `plant:Repo:${index}:${number}`
  const url = (number: number) => `https://code.example/${index}/${number}`
  rows.push(cicdScopes.row({ id: scope, name: 'shop' }), boards.row({ id: board, name: 'board' }))
  for (const number of [0, 1])
    rows.push(repos.row({ id: repository(number), name: `repo ${number}`, url: url(number) }))

  const heads = ['', '']
  const base = START + index * 3 * HOUR
  let keys = 0
  /** Pull requests that are merged but not yet in production, by repository. */
  let waiting: {
    repo: number
    settle: (deployed: number | null, reason: Reason | null, id: string) => void
    isRework: boolean
  }[] = []

  function commit(repo: number, parents: string[], time: number, name: string): string {
    const own = sha(project, repo, name)
    rows.push(
      commits.row({
        sha: own,
        message: name,
        authored_date: at(time),
        author_email: 'dev@example',
        additions: 3,
        deletions: 1,
      }),
      repoCommits.row({ repo_id: repository(repo), commit_sha: own }),
      ...parents.filter(Boolean).map((parent) => commitParents.row({ commit_sha: own, parent_commit_sha: parent })),
    )
    return own
  }

  function pullRequest(
    repo: number,
    merged: number,
    kind: 'usual' | 'late-commit' | 'late-merge' | 'unknown' | 'no-sha' | 'open',
  ) {
    const key = ++keys
    const id = `plant:PullRequest:${index}:${key}`
    const created = merged - (3 + roll(5)) * HOUR - roll(3600) * SECOND
    const authored = kind === 'late-commit' ? created + 2 * HOUR : created - roll(2000) * MINUTE - roll(60) * SECOND
    const isReviewed = roll(4) > 0
    const review = created + (1 + roll(90)) * MINUTE + roll(60) * SECOND
    const tip = commit(repo, [heads[repo] as string], authored, `work ${key}`)
    rows.push(pullRequestCommits.row({ pull_request_id: id, commit_sha: tip, commit_authored_date: at(authored) }))
    // A comment by the author is not a review.
    rows.push(
      pullRequestComments.row({
        id: `${id}:own`,
        pull_request_id: id,
        account_id: 'author',
        created_date: at(created + SECOND),
      }),
    )
    if (isReviewed) {
      rows.push(
        pullRequestComments.row({
          id: `${id}:1`,
          pull_request_id: id,
          account_id: 'other',
          created_date: at(review),
          type: 'REVIEW',
        }),
        pullRequestComments.row({
          id: `${id}:2`,
          pull_request_id: id,
          account_id: 'other',
          created_date: at(review + HOUR),
        }),
      )
    }
    const isMerged = kind !== 'open'
    let merge = ''
    if (isMerged && kind !== 'unknown' && kind !== 'no-sha') {
      merge = commit(repo, [heads[repo] as string, tip], merged, `merge ${key}`)
      heads[repo] = merge
    }
    // The tool's clock is ahead: the merge seems later than the deployment that contained it.
    const told = kind === 'late-merge' ? merged + 2 * DAY : merged
    const isRework = isMerged && merge !== '' && roll(5) === 0
    rows.push(
      pullRequests.row({
        id,
        base_repo_id: repository(repo),
        pull_request_key: key,
        title: isRework ? `Revert "Change ${key}"` : `Change ${key}`,
        author_id: 'author',
        status: isMerged ? 'MERGED' : 'OPEN',
        created_date: at(created),
        merged_date: isMerged ? at(told) : null,
        merge_commit_sha: kind === 'unknown' ? sha('nowhere', project, key) : merge,
        additions: key,
        deletions: 2,
        _raw_data_table: '_raw_plant',
        _raw_data_params: project,
        _raw_data_id: key,
      }),
    )
    const settle = (deployed: number | null, reason: Reason | null) => {
      const coding = span(authored, created)
      const deploy = deployed === null ? null : span(told, deployed)
      truth.pullRequests.push({
        id,
        reason,
        deployed,
        created,
        merged: isMerged ? told : null,
        coding,
        pickup: isReviewed ? span(created, review) : null,
        review: isReviewed ? span(review, told) : null,
        deploy,
        cycle: (coding ?? 0) + (span(created, told) ?? 0) + (deploy ?? 0),
        comments: isReviewed ? 2 : 0,
        lines: key + 2,
      })
    }
    if (kind === 'open') settle(null, 'pull_request_not_merged')
    else if (kind === 'unknown') settle(null, 'merge_commit_in_no_deployment')
    else if (kind === 'no-sha') settle(null, 'no_merge_commit')
    else waiting.push({ repo, settle, isRework })
  }

  function pipeline(name: string, started: number, planned: Planned): { id: string; finished: number } {
    const id = `plant:Pipeline:${index}:${name}`
    // The two deployments of such a step end in the order in which they began, half a minute apart.
    const seconds = planned === 'twin' ? 600 : 600 + roll(600)
    const finished = started + seconds * SECOND
    const result = planned === 'failure' ? 'FAILURE' : planned === 'skipped' ? '' : 'SUCCESS'
    const dates = {
      created_date: at(started),
      started_date: at(started),
      finished_date: at(finished),
      duration_sec: seconds,
    }
    rows.push(cicdPipelines.row({ id, name, cicd_scope_id: scope, result, status: 'DONE', ...dates }))
    rows.push(
      cicdTasks.row({ id: `${id}:build`, name: 'build', pipeline_id: id, cicd_scope_id: scope, result, ...dates }),
      cicdTasks.row({
        id: `${id}:deploy`,
        name: planned === 'staging' ? 'deploy staging' : 'deploy production',
        pipeline_id: id,
        cicd_scope_id: scope,
        result,
        type: 'DEPLOYMENT',
        environment: planned === 'staging' ? 'STAGING' : 'PRODUCTION',
        ...dates,
      }),
    )
    for (const repo of [0, 1]) {
      if (!heads[repo]) continue
      rows.push(
        cicdPipelineCommits.row({
          pipeline_id: id,
          commit_sha: heads[repo] as string,
          branch: 'main',
          repo_id: repository(repo),
          repo_url: url(repo),
        }),
      )
    }
    truth.builds.push({ finished, isCounted: planned !== 'skipped', hasSucceeded: result === 'SUCCESS', seconds })
    return { id, finished }
  }

  function incident(
    name: string,
    created: number,
    resolved: number | null,
    reason: Reason | null,
    deployment: number | null,
  ) {
    const id = `plant:Issue:${index}:${name}`
    const minutes = resolved === null ? null : Math.trunc((resolved - created) / MINUTE)
    rows.push(
      issues.row({
        id,
        issue_key: name,
        title: name,
        type: 'INCIDENT',
        original_type: 'incident',
        created_date: at(created),
        resolution_date: resolved === null ? null : at(resolved),
        lead_time_minutes: minutes,
        component: 'shop',
      }),
      boardIssues.row({ board_id: board, issue_id: id }),
    )
    truth.incidents.push({ id, reason, deployment, created, resolved })
    if (resolved === null) (truth as { issuesOpen: number }).issuesOpen++
    else truth.issuesResolved.push({ at: resolved, minutes: minutes as number })
  }

  incident('early', base - DAY, base, 'no_deployment_before_incident', null)
  const kinds = ['usual', 'late-commit', 'usual', 'late-merge', 'unknown', 'usual', 'no-sha', 'usual', 'open'] as const
  let isFirst = true
  for (let step = 0; step < steps; step++) {
    const now = base + step * DAY
    for (const repo of [0, 1])
      pullRequest(
        repo,
        now - (1 + roll(10)) * HOUR,
        step === 0 ? 'usual' : (kinds[(step * 2 + repo) % kinds.length] as 'usual'),
      )
    // Nothing deploys the work of the last step.
    if (step === steps - 1) break
    const planned = STEPS[step % STEPS.length] as Planned
    const runs = planned === 'twin' ? ['a', 'b'] : ['a']
    for (const [turn, run] of runs.entries()) {
      const { id, finished } = pipeline(`${step}${run}`, now + turn * 30 * SECOND, planned)
      if (planned === 'skipped') continue
      const isProduction = planned !== 'failure' && planned !== 'staging'
      const hasIncident = isProduction && turn === runs.length - 1 && step % 3 === 1
      let isRework = false
      if (isProduction) {
        for (const { settle, isRework: repairs } of waiting) {
          settle(isFirst ? null : finished, isFirst ? 'only_in_first_deployment' : null, id)
          isRework ||= !isFirst && repairs
        }
        waiting = []
        isFirst = false
      }
      truth.deployments.push({
        id,
        reason: planned === 'failure' ? 'not_successful' : planned === 'staging' ? 'other_environment' : null,
        finished,
        hasFailed: hasIncident,
        isRework,
      })
      if (!hasIncident) continue
      const created = finished + HOUR
      const isOpen = step % 9 === 4
      const isBackwards = step % 9 === 7
      const resolved = isOpen
        ? null
        : isBackwards
          ? finished - HOUR
          : created + (10 + roll(3000)) * MINUTE + roll(60) * SECOND
      incident(
        `after ${step}`,
        created,
        resolved,
        isOpen ? 'not_resolved' : isBackwards ? 'clock_backwards' : null,
        finished,
      )
    }
  }
  for (const { settle } of waiting) settle(null, 'merge_commit_in_no_deployment', '')
  return { rows, truth }
}

const mapTo = (project: string, index: number): TableRow[] => [
  projectMapping.row({ project_name: project, table: 'cicd_scopes', row_id: `plant:Scope:${index}` }),
  projectMapping.row({ project_name: project, table: 'boards', row_id: `plant:Board:${index}` }),
  ...[0, 1].map((number) =>
    projectMapping.row({ project_name: project, table: 'repos', row_id: `plant:Repo:${index}:${number}` }),
  ),
]

/** Plants `projects` separate projects, and one that shares every scope of the first. */
export function plantOrganisation(projects: number, steps: number): Organisation {
  const rows: TableRow[] = []
  const truths: Truth[] = []
  for (let index = 0; index < projects; index++) {
    const project = `project ${index}`
    const planted = plant(project, index, steps)
    rows.push(...planted.rows, ...mapTo(project, index))
    truths.push(planted.truth)
  }
  rows.push(...mapTo('sharing', 0))
  truths.push({ ...(truths[0] as Truth), project: 'sharing' })
  return { rows, truths }
}
