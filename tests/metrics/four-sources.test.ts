/**
 * One project with a GitHub repository that Jenkins deploys, a GitLab project that deploys itself, and a Jira board with
 * incidents: from an empty database to the four keys, over HTTP alone.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../api/support/live-server.ts'
import { DEFAULT_TOKEN as GITHUB_TOKEN, startFakeGithub } from '../fake-github/fake-github.ts'
import { CHILD_SPAN } from '../fake-github/world/ids.ts'
import { DEFAULT_TOKEN as GITLAB_TOKEN, startFakeGitlab } from '../fake-gitlab/fake-gitlab.ts'
import { makerOf } from '../fake-gitlab/world.ts'
import * as jenkinsFake from '../fake-jenkins/fake-jenkins.ts'
import * as jiraFake from '../fake-jira/fake-jira.ts'
import { makeRepository, temporaryFolder } from '../gitextractor/support/repository.ts'
import { serveGit } from '../gitextractor/support/server.ts'
import { describeOneWithTables } from '../support/databases.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Monday. */
const START = Date.UTC(2024, 3, 1)
const WEEKS = 6
const iso = (time: number) => new Date(time).toISOString()

/** One change per week. The hours from the first commit to the deployment differ, so that only the right median fits. */
interface Change {
  readonly authored: number
  readonly opened: number
  readonly merged: number
  readonly deployed: number
}
const changesOn = (weekday: number, hours: (week: number) => number): Change[] =>
  Array.from({ length: WEEKS }, (_, week) => {
    const deployed = START + week * 7 * DAY + weekday * DAY + 12 * HOUR
    const authored = deployed - hours(week) * HOUR
    return { authored, opened: authored + 2 * HOUR, merged: deployed - 3 * HOUR, deployed }
  })
const web = changesOn(0, (week) => 10 + week)
const api = changesOn(2, (week) => 30 + 3 * week)

/** Each incident starts an hour after a deployment, and is resolved this many hours later. */
const incidents = [
  { after: web[1] as Change, hours: 1 },
  { after: api[2] as Change, hours: 4 },
  { after: web[4] as Change, hours: 9 },
]

/** The median. For an even number of values it is the lower of the two in the middle, as in DevLake. */
const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] as number
/** The first deployment has no earlier one to compare with, so nobody knows which changes it contained. */
const leadTimes = [...web.slice(1), ...api.slice(1)].map(({ authored, deployed }) => (deployed - authored) / 60_000)
const planted = {
  'deployment-frequency': { value: 2, counted: 2 * WEEKS },
  'change-lead-time': { value: median(leadTimes), counted: leadTimes.length, total: 2 * WEEKS },
  'change-failure-rate': { value: incidents.length / (2 * WEEKS), counted: 2 * WEEKS },
  'failed-deployment-recovery-time': {
    value: median(incidents.map(({ hours }) => (hours + 1) * 60)),
    counted: incidents.length,
  },
}

async function plantGithub(cloneUrl: string, shas: readonly string[]) {
  const name = 'acme/web'
  const amounts = { issues: 3, pullRequests: WEEKS, workflowRuns: 2, commits: 2, deployments: 0, releases: 0 }
  const github = await startFakeGithub({
    world: {
      from: '2024-01-01',
      until: '2024-03-01',
      repositories: [{ name, cloneUrl, ...amounts, commitsPerPullRequest: 1, reviewsPerPullRequest: 1 }],
    },
  })
  const pulls = [...github.world.repository(name).pullRequests]
  for (const [index, { number }] of pulls.entries()) {
    const { authored, opened, merged } = web[index] as Change
    github.update({
      repository: name,
      edit: 'pullCommits',
      index: number * CHILD_SPAN,
      with: { authoredAt: iso(authored) },
    })
    const closed = { state: 'closed' as const, closedBy: 'user-1', mergedBy: 'user-1' }
    const times = { createdAt: iso(opened), updatedAt: iso(merged), mergedAt: iso(merged), closedAt: iso(merged) }
    const mergeCommitSha = shas[index] as string
    const commit = { sha: mergeCommitSha, nodeId: `C_${mergeCommitSha}`, authoredAt: iso(merged) }
    github.update({ repository: name, add: 'commits', with: commit })
    github.update({
      repository: name,
      edit: 'pullRequests',
      index: number,
      with: { ...closed, ...times, mergeCommitSha },
    })
  }
  return github
}

async function plantGitlab(cloneUrl: string, shas: readonly string[]) {
  const gitlab = await startFakeGitlab({ world: { projects: [{ path: 'acme/api', cloneUrl }] } })
  const project = gitlab.world.project('acme/api')
  const make = makerOf(gitlab.world, project)
  for (const [index, { authored, opened, merged, deployed }] of api.entries()) {
    const request = make.mergeRequest(iso(opened))
    const [first] = request.commits
    Object.assign(request, {
      state: 'merged',
      mergedAt: iso(merged),
      closedAt: null,
      updatedAt: iso(merged),
      draft: false,
      mergedBy: request.author,
      sourceProject: project.id,
      mergeSha: shas[index],
      commits: [{ ...first, at: iso(authored) }],
    })
    make.deployment(iso(deployed))
    Object.assign(project.deployments.at(-1) as object, { sha: shas[index], environment: 'production', job: null })
  }
  // A deployment to another environment, which does not count.
  make.deployment(iso(START + DAY))
  Object.assign(project.deployments.at(-1) as object, { environment: 'staging', job: null })
  return gitlab
}

async function plantJenkins(url: string, shas: readonly string[]) {
  const jenkins = await jenkinsFake.startFakeJenkins()
  jenkins.add('folder', 'team')
  jenkins.add('pipeline', 'team/deploy-web')
  const duration = 60_000
  for (const [index, { merged, deployed }] of web.entries()) {
    const commits = [{ sha: shas[index] as string, url }]
    jenkins.build('team/deploy-web', { timestamp: merged, duration, result: 'FAILURE', commits, stages: ['rollout'] })
    jenkins.build('team/deploy-web', { timestamp: deployed - duration, duration, commits, stages: ['rollout'] })
  }
  return jenkins
}

async function plantJira() {
  const jira = await jiraFake.startFakeJira()
  for (const { after, hours } of incidents) {
    const created = after.deployed + HOUR
    const resolved = created + hours * HOUR
    jira.now = () => new Date(created)
    const made = jira.createIssue({ boards: [5], fields: { issuetype: jira.types[1] } })
    jira.now = () => new Date(resolved)
    jira.setStatus(made.key, '3')
    made.fields.resolutiondate = iso(resolved).replace('Z', '+0000')
  }
  jira.now = () => new Date()
  return jira
}

/** Makes merge commits in a line, and serves them for cloning. */
async function plantHistory(name: string, changes: readonly Change[]) {
  const repository = makeRepository(join(temporaryFolder(), name))
  const { url } = await serveGit(join(repository.folder, '..'))
  const shas = changes.map(({ merged }, index) => repository.commit(`merge ${index}`, merged / 1000))
  return { url: `${url}/${name}`, shas }
}

interface Source {
  readonly plugin: string
  readonly connection: object
  readonly rules: object
  /** Chooses a group of scopes that the source offers. `isChosen` finds the scope in it. */
  readonly groupId?: (groups: readonly any[]) => string
  readonly isChosen: (offered: any) => boolean
}

/** Connects a source as the pages do: test, save, rules, choose scopes from the offered ones. Returns the blueprint's connection. */
async function connect(ask: Ask, { plugin, connection, rules, groupId, isChosen }: Source) {
  expect(await ask('POST', `/plugins/${plugin}/test`, connection)).toMatchObject({ success: true })
  const { id } = await ask('POST', `/plugins/${plugin}/connections`, { name: 'main', ...connection })
  const at = `/plugins/${plugin}/connections/${id}`
  const config = await ask('POST', `${at}/scope-configs`, { name: 'rules', ...rules })
  const children: any[] = []
  const base = `${at}/remote-scopes?groupId=${groupId ? encodeURIComponent(groupId((await ask('GET', `${at}/remote-scopes`)).children)) : ''}`
  for (let token: string | undefined; token !== ''; ) {
    const page = await ask('GET', token ? `${base}&pageToken=${encodeURIComponent(token)}` : base)
    children.push(...page.children)
    token = page.nextPageToken ?? ''
  }
  const chosen = children.find((each) => each.type === 'scope' && isChosen(each))
  expect(chosen, `${plugin} offers ${JSON.stringify(children.slice(0, 3))}`).toBeDefined()
  await ask('PUT', `${at}/scopes`, { data: [{ ...chosen.data, scopeConfigId: config.id }] })
  return { pluginName: plugin, connectionId: id, scopes: [{ scopeId: chosen.id }] }
}

type Ask = (method: string, path: string, body?: unknown) => Promise<any>
const asking =
  (server: LiveServer): Ask =>
  async (method, path, body) => {
    const answer = await server.ask(method, path, body)
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }

async function collect(ask: Ask, blueprintId: number, server: LiveServer): Promise<void> {
  const run = await ask('POST', `/blueprints/${blueprintId}/trigger`, {})
  // The stream of events ends with the run.
  await (await fetch(`${server.url}/v1/pipelines/${run.id}/events`)).text()
  const { tasks } = await ask('GET', `/pipelines/${run.id}/tasks`)
  const odd = tasks.filter(({ status, message }: any) => status !== 'TASK_COMPLETED' || message !== '')
  expect(odd.map(({ plugin, message }: any) => `${plugin}: ${message}`)).toEqual([])
}

describeOneWithTables(
  'a project with a GitHub repository, a GitLab project, a Jira board and a Jenkins folder',
  (test) => {
    it('has the four keys that were planted, the second time too', { timeout: 300_000 }, async () => {
      const [webHistory, apiHistory] = [await plantHistory('web', web), await plantHistory('api', api)]
      const github = await plantGithub(webHistory.url, webHistory.shas)
      const gitlab = await plantGitlab(apiHistory.url, apiHistory.shas)
      const jenkins = await plantJenkins(webHistory.url, webHistory.shas)
      const jira = await plantJira()
      const server = await startLiveServer(await test.createDatabase())
      const ask = asking(server)
      try {
        const sources: Source[] = [
          {
            plugin: 'github',
            connection: { endpoint: `${github.url}/`, authMethod: 'AccessToken', token: GITHUB_TOKEN },
            rules: { entities: ['CODE', 'CODEREVIEW', 'CROSS'] },
            groupId: () => 'acme',
            isChosen: ({ fullName }) => fullName === 'acme/web',
          },
          {
            plugin: 'gitlab',
            connection: { endpoint: gitlab.url, token: GITLAB_TOKEN },
            rules: { entities: ['CODE', 'CODEREVIEW', 'CROSS', 'CICD'], envNamePattern: '^production$' },
            groupId: (groups) => groups.find(({ fullName }) => fullName === 'acme').id,
            isChosen: ({ fullName }) => fullName === 'acme/api',
          },
          {
            plugin: 'jenkins',
            connection: { endpoint: jenkins.endpoint, username: jenkinsFake.USER, password: jenkinsFake.TOKEN },
            rules: { deploymentPattern: 'deploy-web' },
            groupId: () => '/job/team',
            isChosen: ({ id }) => id === 'team/deploy-web',
          },
          {
            plugin: 'jira',
            connection: { endpoint: jira.url, authMethod: 'BasicAuth', ...jiraFake.USER },
            rules: { typeMappings: { Bug: { standardType: 'INCIDENT' } } },
            isChosen: ({ id }) => id === '5',
          },
        ]
        const connections: object[] = []
        for (const source of sources) connections.push(await connect(ask, source))
        const metrics = [{ pluginName: 'dora', pluginOption: '', enable: true }]
        const { blueprint } = await ask('POST', '/projects', { name: 'shop', description: '', metrics })
        await ask('PATCH', `/blueprints/${blueprint.id}`, { connections, timeAfter: '2020-01-01T00:00:00Z' })

        const range = `from=${iso(START)}&to=${iso(START + WEEKS * 7 * DAY - 1)}`
        for (const round of ['first', 'second']) {
          await collect(ask, blueprint.id, server)
          for (const [metric, { value, ...counts }] of Object.entries(planted)) {
            const { values } = await ask('GET', `/v1/metrics/${metric}?project=shop&${range}`)
            expect(values, `${metric}, ${round} run`).toMatchObject([counts])
            expect(values[0].value, `${metric}, ${round} run`).toBeCloseTo(value, 6)
          }
        }
        expect([...github.violations, ...gitlab.violations]).toEqual([])
      } finally {
        await server.stop()
        for (const fake of [github, gitlab, jenkins, jira]) await fake.stop()
      }
    })
  },
)
