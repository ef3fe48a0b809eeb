/** The planted organisation, with additional data: people, bugs, jobs, sources, runs. */
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { commits, repoCommits, repos } from '../../src/domain/code.ts'
import { pullRequestIssues } from '../../src/domain/crossdomain.ts'
import {
  cicdDeploymentCommits,
  cicdPipelineCommits,
  cicdPipelines,
  cicdScopes,
  cicdTasks,
} from '../../src/domain/devops.ts'
import { accounts, teams, teamUsers, userAccounts, users } from '../../src/domain/people.ts'
import { pullRequestComments, pullRequests } from '../../src/domain/pull-requests.ts'
import { cqFileMetrics, cqIssues, cqProjects } from '../../src/domain/quality.ts'
import { boardIssues, boards, incidents, issueAssignees, issueChangelogs, issues } from '../../src/domain/ticket.ts'
import { gaps } from '../../src/plugin-kit/raw/gaps.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { webhookDeliveries } from '../../src/system/deliveries.ts'
import { pipelines, tasks } from '../../src/system/pipelines.ts'
import { projects } from '../../src/system/projects.ts'
import { connectionStates } from '../../src/system/runs.ts'
import { allTables } from '../../src/tables.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'

const STEPS = 40
export const RANGES = [
  { from: new Date(START - 10 * DAY), to: new Date(START + (STEPS + 10) * DAY) },
  { from: new Date(START + 9.5 * DAY), to: new Date(START + 23.25 * DAY) },
] as const
export const TEAM = 'team-1'
const HOUR = DAY / 24
const at = (day: number, hours = 0) => new Date(START + day * DAY + hours * HOUR)

const { rows: planted, truths } = plantOrganisation(2, STEPS)
export const [PROJECT = ''] = truths.map((truth) => truth.project)

const people = (): TableRow[] => [
  ...['author', 'other'].map((id) => accounts.row({ id, full_name: `The ${id}`, user_name: id })),
  ...['author', 'other'].map((id) => users.row({ id: `user ${id}`, name: `The ${id}`, email: `${id}@example` })),
  ...['author', 'other'].map((id) => userAccounts.row({ account_id: id, user_id: `user ${id}` })),
  teams.row({ id: TEAM, name: 'Water' }),
  teams.row({ id: 'team-2', name: 'Fire' }),
  teamUsers.row({ team_id: TEAM, user_id: 'user author' }),
  teamUsers.row({ team_id: 'team-2', user_id: 'user other' }),
  // Weir shows no numbers of fewer than five people.
  ...[TEAM, 'team-2'].flatMap((team_id) =>
    [1, 2, 3, 4].map((number) => teamUsers.row({ team_id, user_id: `user ${number} of ${team_id}` })),
  ),
]

/** Commits of enough people that panels show how the work of all is spread. */
const commitsOfMany = (): TableRow[] =>
  [1, 2, 3, 4, 5].flatMap((number) => {
    const sha = `c0ffee${number}`.padEnd(40, '0')
    return [
      commits.row({ sha, message: 'Small', authored_date: at(5, number), author_email: `dev${number}@example` }),
      repoCommits.row({ repo_id: 'plant:Repo:0:0', commit_sha: sha }),
    ]
  })

/** Every third issue is open, every fourth is a bug. Priorities and states differ, and some lack an assignee, an epic, or points. */
const issuesOn = (board: string, mark: string): TableRow[] =>
  Array.from({ length: 24 }, (_, index) => index).flatMap((index) => {
    const id = `${mark}:Issue:${index}`
    const isOpen = index % 3 === 0
    const created = at(index, index % 5)
    const minutes = isOpen ? null : (index + 1) * 700
    return [
      issues.row({
        id,
        issue_key: `${mark}-${index}`,
        title: `Issue ${index} of ${mark}`,
        url: `https://issues.example/${mark}/${index}`,
        type: index % 4 === 0 ? 'BUG' : 'REQUIREMENT',
        original_type: index % 4 === 0 ? 'Bug' : 'Story',
        status: isOpen ? 'TODO' : 'DONE',
        original_status: isOpen ? (index % 2 ? 'Waiting' : 'Open') : 'Closed',
        priority: ['High', 'Low', ''][index % 3],
        assignee_id: index % 2 ? 'author' : '',
        assignee_name: index % 2 ? 'The author' : '',
        epic_key: index % 5 === 0 ? 'EPIC-1' : '',
        story_point: index % 6 === 1 ? 3 : null,
        created_date: created,
        resolution_date: minutes === null ? null : new Date(created.getTime() + minutes * 60_000),
        lead_time_minutes: minutes,
      }),
      boardIssues.row({ board_id: board, issue_id: id }),
    ]
  })

/** Each commit is built twice, and in every fourth case the job `test` has another result the second time. */
const buildsIn = (scope: string, mark: string): TableRow[] =>
  Array.from({ length: 24 }, (_, index) => index).flatMap((index) => {
    const id = `${mark}:Build:${index}`
    const started = at(index, 6)
    const finished = new Date(started.getTime() + (300 + index * 10) * 1000)
    const result = index % 8 === 1 ? 'FAILURE' : index % 8 === 3 ? '' : 'SUCCESS'
    const shared = { cicd_scope_id: scope, status: 'DONE', result, created_date: started, started_date: started }
    const job = (name: string, delay: number, seconds: number) =>
      cicdTasks.row({
        ...shared,
        id: `${id}:${name}`,
        name,
        pipeline_id: id,
        started_date: new Date(started.getTime() + delay * 1000),
        finished_date: finished,
        duration_sec: seconds,
      })
    return [
      cicdPipelines.row({
        ...shared,
        id,
        name: index % 2 ? 'nightly' : 'main',
        display_title: `Build ${index}`,
        url: `https://builds.example/${mark}/${index}`,
        duration_sec: 300 + index * 10,
        queued_duration_sec: index % 3 ? 20 + index : null,
        finished_date: finished,
      }),
      cicdPipelineCommits.row({
        pipeline_id: id,
        commit_sha: `commit ${mark} ${Math.floor(index / 2)}`,
        branch: 'main',
      }),
      job('test', 30, 200),
      job('lint', 45, 20 + index),
    ]
  })

/** Out of every four, two are merged (one of them with a review), one is closed, and one open. */
const pullRequestsIn = (repository: string, mark: string): TableRow[] =>
  Array.from({ length: 24 }, (_, index) => index).flatMap((index) => {
    const id = `${mark}:PullRequest:${index}`
    const end = at(index + 1, index % 7)
    const isMerged = index % 4 < 2
    const row = pullRequests.row({
      id,
      base_repo_id: repository,
      pull_request_key: 1000 + index,
      title: `Change ${index} of ${mark}`,
      url: `https://code.example/${mark}/${index}`,
      author_id: index % 3 ? 'author' : 'other',
      status: isMerged ? 'MERGED' : index % 4 === 2 ? 'CLOSED' : 'OPEN',
      created_date: at(index),
      merged_date: isMerged ? end : null,
      closed_date: index % 4 === 2 ? end : null,
      additions: index * 40,
      deletions: index,
    })
    const review = pullRequestComments.row({
      id: `${id}:review`,
      pull_request_id: id,
      account_id: 'reviewer',
      type: 'REVIEW',
      created_date: at(index, 3),
    })
    const link = pullRequestIssues.row({ pull_request_id: id, issue_id: `${mark}:Issue:${index}` })
    return [row, ...(index % 4 === 0 ? [review] : []), ...(index % 2 ? [link] : [])]
  })

/** Every third is open. Two of three have a responder, and every eighth belongs to both services. */
const incidentsOf = (services: readonly string[], mark: string): TableRow[] => [
  ...services.map((id, index) => boards.row({ id, name: `Service ${index}` })),
  ...Array.from({ length: 24 }, (_, index) => index).flatMap((index) => {
    const id = `${mark}:Incident:${index}`
    const isOpen = index % 3 === 0
    const minutes = isOpen ? null : 10 * (index + 1)
    const shared = { issue_id: id }
    return [
      issues.row({
        id,
        issue_key: String(index),
        description: `Alarm ${index}`,
        url: `https://calls.example/${mark}/${index}`,
        type: 'INCIDENT',
        status: isOpen ? 'TODO' : 'DONE',
        original_status: isOpen ? 'triggered' : 'resolved',
        priority: ['P1', 'P2', ''][index % 3],
        created_date: at(index),
        lead_time_minutes: minutes,
        resolution_date: minutes === null ? null : new Date(at(index).getTime() + minutes * 60_000),
      }),
      ...services
        .filter((_service, place) => index % 8 === 0 || index % services.length === place)
        .map((board_id) => boardIssues.row({ ...shared, board_id })),
      ...(index % 3 === 2
        ? []
        : [issueAssignees.row({ ...shared, assignee_id: index % 2 ? 'author' : 'other', assignee_name: '' })]),
    ]
  }),
]

const GITHUB = 'github:GithubRepo:1:7'
const GITLAB = 'gitlab:GitlabProject:1:12'
const JENKINS = 'jenkins:JenkinsJob:1:team/app'
const BITBUCKET = 'bitbucket:BitbucketRepo:1:shop/web'
const BITBUCKET_SERVER = 'bitbucket_server:BitbucketServerRepo:1:SHOP/repos/web'
const JIRA = 'jira:JiraBoard:1:8'
const LINEAR = 'linear:LinearTeam:1:8'
const CIRCLECI = 'circleci:CircleciProject:1:nine'
const AZURE = 'azuredevops_go:AzuredevopsRepo:1:ten'
const AZURE_BOARD = 'azuredevops_go:AzuredevopsRepo:1:eleven'
const WEBHOOK = 'webhook:1'
const BAMBOO = 'bamboo:BambooPlan:1:SHOP-WEB'
const ARGOCD = 'argocd:ArgocdApplication:1:web'
const SONARQUBE = 'sonarqube:SonarqubeProject:1:shop'

/** Out of 24 findings, a quarter each are bugs, vulnerabilities, code smells and hotspots. A third is closed or reviewed. */
const findingsIn = (project: string): TableRow[] => [
  cqProjects.row({ id: project, name: 'shop' }),
  ...Array.from({ length: 24 }, (_, index) =>
    cqIssues.row({
      id: `${project}:${index}`,
      project_key: project,
      type: ['BUG', 'VULNERABILITY', 'CODE_SMELL', 'HOTSPOTS'][index % 4] as string,
      status: index % 3 ? (index % 4 === 3 ? 'TO_REVIEW' : 'OPEN') : index % 4 === 3 ? 'REVIEWED' : 'CLOSED',
      severity: ['BLOCKER', 'MAJOR', 'MINOR'][index % 3] as string,
      debt: index,
    }),
  ),
  ...Array.from({ length: 3 }, (_, index) =>
    cqFileMetrics.row({
      id: `${project}:file:${index}`,
      project_key: project,
      file_path: `src/${index}.ts`,
      bugs: index,
      num_of_lines: 100,
      duplicated_lines: 10 * index,
      lines_to_cover: 50,
      uncovered_lines: 5 * index,
    }),
  ),
]

const deploymentsIn = (scope: string): TableRow[] =>
  ['SUCCESS', 'FAILURE', ''].map((result, index) =>
    cicdDeploymentCommits.row({
      id: `${scope}:${index}`,
      commit_sha: `pushed ${index}`,
      cicd_deployment_id: `${scope}:deployment ${index}`,
      cicd_scope_id: scope,
      name: `Release ${index}`,
      result,
      environment: 'PRODUCTION',
      repo_url: 'https://code.example/shop/web',
      duration_sec: 60 + index,
      created_date: at(12),
      started_date: at(12),
      finished_date: at(12, index),
    }),
  )

const sources = (): TableRow[] => [
  repos.row({ id: GITHUB, name: 'shop/web', url: 'https://code.example/shop/web' }),
  ...[BITBUCKET, BITBUCKET_SERVER, GITLAB].map((id) => repos.row({ id, name: `repository ${id}` })),
  boards.row({ id: GITHUB, name: 'shop/web' }),
  boards.row({ id: JIRA, name: 'Shop board' }),
  boards.row({ id: AZURE_BOARD, name: 'Shop' }),
  ...[GITHUB, GITLAB, AZURE, CIRCLECI, JENKINS, WEBHOOK, BAMBOO, ARGOCD].map((id) =>
    cicdScopes.row({ id, name: `scope ${id}` }),
  ),
  ...commitsOfMany(),
  ...pullRequestsIn('plant:Repo:0:0', 'own'),
  ...pullRequestsIn(GITHUB, 'github'),
  ...pullRequestsIn(GITLAB, 'gitlab'),
  ...pullRequestsIn(BITBUCKET, 'bitbucket'),
  ...pullRequestsIn(BITBUCKET_SERVER, 'bitbucket_server'),
  ...pullRequestsIn(AZURE, 'azuredevops_go'),
  ...issuesOn('plant:Board:0', 'own'),
  ...issuesOn(GITHUB, 'github'),
  ...issuesOn(GITLAB, 'gitlab'),
  ...issuesOn(JIRA, 'jira'),
  ...issuesOn(LINEAR, 'linear'),
  ...issuesOn(AZURE_BOARD, 'azuredevops_go'),
  ...buildsIn('plant:Scope:0', 'own'),
  ...buildsIn(GITHUB, 'github'),
  ...buildsIn(BITBUCKET, 'bitbucket'),
  ...buildsIn(CIRCLECI, 'circleci'),
  ...buildsIn(AZURE, 'azuredevops_go'),
  ...buildsIn(BAMBOO, 'bamboo'),
  ...buildsIn(GITLAB, 'gitlab'),
  ...buildsIn(JENKINS, 'jenkins'),
  ...['pagerduty', 'opsgenie'].flatMap((plugin) =>
    incidentsOf(
      ['web', 'data'].map((name) => `${plugin}:Service:1:${name}`),
      plugin,
    ),
  ),
  ...findingsIn(SONARQUBE),
  issueChangelogs.row({
    id: 'move',
    issue_id: 'own:Issue:2',
    field_name: 'Sprint',
    created_date: at(3),
    original_from_value: 'Sprint 1',
    original_to_value: 'Sprint 2',
  }),
  ...deploymentsIn(WEBHOOK),
  ...deploymentsIn(BITBUCKET),
  ...deploymentsIn(ARGOCD),
  ...[0, 1].map((index) =>
    incidents.row({
      id: `webhook:1:incident ${index}`,
      title: `Pager ${index}`,
      table: 'boards',
      scope_id: WEBHOOK,
      priority: 'High',
      created_date: at(13),
      resolution_date: index ? at(14) : null,
      lead_time_minutes: index ? 1440 : null,
    }),
  ),
]

const operation = (): TableRow[] => {
  const written = { created_at: at(15), updated_at: at(16) }
  const place = { plugin: 'github', params: '{"ConnectionId":1,"Name":"shop/web"}' }
  return [
    ...['issues', 'runs', 'jobs'].map((list, index) =>
      receipts.row({
        ...place,
        ...written,
        raw_table: `_raw_github_${list}`,
        subtask: `Collect ${list}`,
        status: ['complete', 'gap', 'failed'][index],
        message: index === 2 ? 'The source answered 403.' : '',
        expected: index ? 100 : null,
        received: 90,
        stored: 95,
        requests: 3,
        counted_requests: 3,
        last_success_at: at(14),
      }),
    ),
    gaps.row({
      ...place,
      ...written,
      raw_table: '_raw_github_runs',
      list: '',
      subtask: 'Collect runs',
      kind: 'count',
      reason: 'The source counts more than it sent.',
      missing: 5,
      attempts: 1,
    }),
    ...[1, 2].map((raw_id) =>
      quarantine.row({
        ...place,
        ...written,
        subtask: 'Extract jobs',
        raw_table: '_raw_github_jobs',
        raw_id,
        record_key: '',
        entity: 'jobs',
        reason: 'It has no id.',
      }),
    ),
    connectionStates.row({
      plugin: 'github',
      connection_id: 1,
      requests_left: 4200,
      ...written,
      counted_at: at(15),
      succeeded_at: at(15),
      failed_at: at(2),
      failure: 'HTTP 503',
    }),
    ...['TASK_COMPLETED', 'TASK_FAILED', 'TASK_PARTIAL', 'TASK_CANCELLED'].flatMap((status, index) => [
      pipelines.row({
        id: index + 1,
        name: `Run ${index}`,
        status,
        total_tasks: 2,
        finished_tasks: 2,
        ...written,
        began_at: at(10 + index),
        finished_at: at(10 + index, 1),
        spent_seconds: 3600 + index,
      }),
      tasks.row({
        id: index + 1,
        plugin: index % 2 ? 'github' : 'jira',
        status,
        pipeline_id: index + 1,
        ...written,
        began_at: at(10 + index),
        finished_at: at(10 + index, 1),
        spent_seconds: 1800 + index,
      }),
    ]),
    ...[200, 400].map((status, index) =>
      webhookDeliveries.row({
        connection_id: 1,
        id: index + 1,
        kind: 'deployments',
        path: '/',
        status,
        created_at: at(12),
        updated_at: at(12),
        message: status === 400 ? 'It names no commit.' : '',
      }),
    ),
  ]
}

export async function fill(database: Database): Promise<void> {
  await migrate(database, allTables)
  await write(database, [
    ...planted,
    ...truths.map(({ project }) => projects.row({ name: project })),
    ...people(),
    ...sources(),
    ...operation(),
  ])
  for (const { project } of truths) await calculate(database, project)
  // A custom field as users add it. Incidents after the steps 1, 10 and 16 are outages.
  await sql`alter table incidents add column x_issue_category varchar(255)`.execute(database.kysely)
  await sql`update incidents set x_issue_category = case when incident_key like 'after 1%' then 'Outage' else 'Slow' end`.execute(
    database.kysely,
  )
  // The time of writing is not compared, so it is the same everywhere.
  for (const table of ['pull_requests', 'cicd_deployment_commits', 'cicd_pipelines', 'issues', 'incidents'])
    await sql`update ${sql.table(table)} set updated_at = ${at(40)}`.execute(database.kysely)
  await sql`update commits set author_id = 'author'`.execute(database.kysely)
  await sql`update incidents set assignee_id = 'author' where assignee_id = ''`.execute(database.kysely)
}
