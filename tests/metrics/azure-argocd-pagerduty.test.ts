/**
 * One project with a repository and the boards of Azure DevOps, applications that Argo CD deploys from it, and incidents of
 * PagerDuty: from an empty database to the four keys, over HTTP alone.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../api/support/live-server.ts'
import { TOKEN as ARGOCD_TOKEN, startFakeArgocd } from '../fake-argocd/fake-argocd.ts'
import { TOKEN as AZURE_TOKEN, startFakeAzureDevops } from '../fake-azuredevops/fake-azuredevops.ts'
import { ORGANIZATION, PROJECT } from '../fake-azuredevops/world.ts'
import { TOKEN as PAGERDUTY_TOKEN, startFakePagerduty } from '../fake-pagerduty/fake-pagerduty.ts'
import { makeRepository, temporaryFolder } from '../gitextractor/support/repository.ts'
import { serveGit } from '../gitextractor/support/server.ts'
import { describeOneWithTables } from '../support/databases.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Monday. */
const START = Date.UTC(2024, 3, 1)
/** More weeks than Argo CD remembers. */
const WEEKS = 14
const REMEMBERED = 10
/** The number of pull requests that were never merged. */
const ABANDONED = 1
const iso = (time: number) => new Date(time).toISOString()

/** One change per week. The hours from the first commit to the deployment differ, so that only the right median fits. */
const changes = Array.from({ length: WEEKS }, (_, week) => {
  const deployed = START + week * 7 * DAY + DAY + 12 * HOUR
  const authored = deployed - (20 + 2 * week) * HOUR
  return { authored, opened: authored + 2 * HOUR, merged: deployed - 3 * HOUR, deployed }
})
type Change = (typeof changes)[number]

/** Each incident starts an hour after a deployment, and is resolved this many hours later. */
const incidents = [
  { after: changes[1] as Change, hours: 2 },
  { after: changes[5] as Change, hours: 5 },
  { after: changes[8] as Change, hours: 11 },
  { after: changes[12] as Change, hours: 3 },
]

/** The median. For an even number of values it is the lower of the two in the middle, as in DevLake. */
const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] as number

/** The first deployment has no earlier one to compare with, so nobody knows which changes it contained. */
function plantedUntil(weeks: number) {
  const known = changes.slice(0, weeks)
  const leadTimes = known.slice(1).map(({ authored, deployed }) => (deployed - authored) / MINUTE)
  const broken = incidents.filter(({ after }) => known.includes(after))
  return {
    'deployment-frequency': { value: 1, counted: weeks },
    'change-lead-time': { value: median(leadTimes), counted: leadTimes.length, total: weeks + ABANDONED },
    'change-failure-rate': { value: broken.length / weeks, counted: weeks },
    'failed-deployment-recovery-time': {
      value: median(broken.map(({ hours }) => (hours + 1) * 60)),
      counted: broken.length,
    },
  }
}

type Ask = (method: string, path: string, body?: unknown) => Promise<any>
const asking =
  (server: LiveServer): Ask =>
  async (method, path, body) => {
    const answer = await server.ask(method, path, body)
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }

/** Makes merge commits in a line, and serves them for cloning. */
async function plantHistory() {
  const repository = makeRepository(join(temporaryFolder(), 'web'))
  const { url } = await serveGit(join(repository.folder, '..'))
  const shas = changes.map(({ merged }, index) => repository.commit(`merge ${index}`, merged / 1000))
  return { url: `${url}/web`, shas }
}

async function plantAzure(url: string, shas: readonly string[]) {
  const azure = await startFakeAzureDevops()
  const web = azure.repositories[0]!
  Object.assign(web, { webUrl: url, remoteUrl: url })
  const at = (time: number) => {
    azure.now = () => new Date(time)
  }
  const merge = ({ authored, opened, merged }: Change, index: number) => {
    at(authored)
    const { commits } = azure.openPullRequest(0)
    const request = azure.pullRequests.at(-1)!
    Object.assign(request, { creationDate: iso(opened), commits, lastMergeCommit: { commitId: shas[index] } })
    at(merged)
    azure.close(request, 'completed')
  }
  at(START)
  for (let number = 0; number < ABANDONED; number++) azure.close(azure.openPullRequest(0), 'abandoned')
  azure.addIteration('Sprint 1', iso(START), iso(START + 14 * DAY))
  for (const title of ['Basket', 'Payment']) azure.addWorkItem('User Story', { 'System.Title': title })
  return { azure, merge, repository: web }
}

async function plantArgocd(repoURL: string, shas: readonly string[]) {
  const argocd = await startFakeArgocd()
  const { world } = argocd
  world.historyLimit = REMEMBERED
  world.clusters.push({ server: 'https://10.0.0.1', name: 'prod-eu' }, { server: 'https://10.0.0.2', name: 'stage-eu' })
  const values = { repoURL: 'https://git.example.com/acme/values', path: 'web', targetRevision: 'main', ref: 'values' }
  const sources = [{ repoURL, path: 'deploy', targetRevision: 'main' }, values]
  const make = (name: string, server: string) =>
    world.add(name, { project: 'shop', labels: { team: 'web' }, sources, destination: { server, namespace: 'web' } })
  const [live, stage] = [make('web-a', 'https://10.0.0.1'), make('web-b', 'https://10.0.0.2')]
  // An application of another team, which the selection leaves out.
  world.add('tool', { project: 'shop', labels: { team: 'ops' }, destination: { name: 'prod-eu', namespace: 'tool' } })
  const at = (time: number) => argocd.setNow(() => new Date(time))
  const sync = (application: typeof live, deployed: number, index: number, phase = 'Succeeded') => {
    at(deployed - 2 * MINUTE)
    world.begin(application, { revisions: [shas[index] as string, '0'.repeat(39) + (index % 10)] })
    at(deployed)
    world.finish(application, phase)
  }
  const deploy = ({ deployed }: Change, index: number) => {
    sync(stage, deployed - HOUR, index)
    sync(live, deployed - 30 * MINUTE, index, 'Failed')
    sync(live, deployed, index)
  }
  return { argocd, deploy }
}

async function plantPagerduty() {
  const pagerduty = await startFakePagerduty()
  const { world } = pagerduty
  const service = world.addService('PWEB', 'Web')
  const other = world.addService('POTHER', 'Other')
  const at = (time: number) => {
    world.now = () => new Date(time)
  }
  const happen = ({ after, hours }: (typeof incidents)[number]) => {
    at(after.deployed + HOUR)
    const made = world.trigger(service)
    world.trigger(other)
    at(after.deployed + HOUR + hours * HOUR)
    world.resolve(made)
  }
  return { pagerduty, happen }
}

interface Source {
  readonly plugin: string
  readonly connection: object
  readonly rules?: object
  readonly groupId?: string
  readonly isChosen: (offered: any) => boolean
}

/** Connects a source as the pages do: test, save, rules, choose scopes from the offered ones. Returns the blueprint's connection. */
async function connect(ask: Ask, { plugin, connection, rules, groupId = '', isChosen }: Source) {
  expect(await ask('POST', `/plugins/${plugin}/test`, connection)).toMatchObject({ success: true })
  const { id } = await ask('POST', `/plugins/${plugin}/connections`, { name: 'main', ...connection })
  const at = `/plugins/${plugin}/connections/${id}`
  const config = rules && (await ask('POST', `${at}/scope-configs`, { name: 'rules', ...rules }))
  const { children } = await ask('GET', `${at}/remote-scopes?groupId=${encodeURIComponent(groupId)}`)
  const chosen = children.filter((each: any) => each.type === 'scope' && isChosen(each))
  const data = chosen.map((each: any) => ({ ...each.data, ...(config && { scopeConfigId: config.id }) }))
  await ask('PUT', `${at}/scopes`, { data })
  return { pluginName: plugin, connectionId: id, scopes: chosen.map((each: any) => ({ scopeId: each.id })) }
}

async function collect(ask: Ask, blueprintId: number, server: LiveServer): Promise<void> {
  const run = await ask('POST', `/blueprints/${blueprintId}/trigger`, {})
  // The stream of events ends with the run.
  await (await fetch(`${server.url}/v1/pipelines/${run.id}/events`)).text()
  const { tasks } = await ask('GET', `/pipelines/${run.id}/tasks`)
  const odd = tasks.filter(({ status, message }: any) => status !== 'TASK_COMPLETED' || message !== '')
  expect(odd.map(({ plugin, message }: any) => `${plugin}: ${message}`)).toEqual([])
}

describeOneWithTables('a project with Azure DevOps, Argo CD and PagerDuty', (test) => {
  it('has the four keys that were planted, also when Argo CD has forgotten', { timeout: 300_000 }, async () => {
    const { url, shas } = await plantHistory()
    const { azure, merge, repository } = await plantAzure(url, shas)
    const { argocd, deploy } = await plantArgocd(url, shas)
    const { pagerduty, happen } = await plantPagerduty()
    const server = await startLiveServer(await test.createDatabase())
    const ask = asking(server)
    const live = (from: number, to: number) => {
      for (const [index, change] of changes.entries()) {
        if (index < from || index >= to) continue
        merge(change, index)
        deploy(change, index)
        for (const incident of incidents) if (incident.after === change) happen(incident)
      }
      // Their clocks stand still while they are queried.
      const now = () => new Date(START + to * 7 * DAY)
      argocd.setNow(now)
      for (const fake of [azure, pagerduty.world]) Object.assign(fake, { now })
    }
    try {
      live(0, 8)
      const connections = [
        await connect(ask, {
          plugin: 'azuredevops_go',
          connection: { endpoint: azure.url, organization: ORGANIZATION, token: AZURE_TOKEN },
          rules: { entities: ['CODE', 'CODEREVIEW', 'CROSS', 'TICKET'] },
          groupId: `${ORGANIZATION}/${PROJECT.name}`,
          isChosen: ({ id, name }) => id === repository.id || name.endsWith('(boards)'),
        }),
        await connect(ask, {
          plugin: 'argocd',
          connection: { endpoint: argocd.endpoint, token: ARGOCD_TOKEN },
          rules: { envNamePattern: '^prod-' },
          groupId: 'shop',
          isChosen: ({ name }) => name.startsWith('web-'),
        }),
        await connect(ask, {
          plugin: 'pagerduty',
          connection: { endpoint: pagerduty.url, token: PAGERDUTY_TOKEN },
          isChosen: ({ id }) => id === 'PWEB',
        }),
      ]
      const metrics = [{ pluginName: 'dora', pluginOption: '', enable: true }]
      const { blueprint } = await ask('POST', '/projects', { name: 'shop', description: '', metrics })
      await ask('PATCH', `/blueprints/${blueprint.id}`, { connections, timeAfter: '2020-01-01T00:00:00Z' })

      for (const weeks of [8, 8, WEEKS]) {
        if (weeks === WEEKS) live(8, WEEKS)
        await collect(ask, blueprint.id, server)
        const range = `from=${iso(START)}&to=${iso(START + weeks * 7 * DAY - 1)}`
        for (const [metric, { value, ...counts }] of Object.entries(plantedUntil(weeks))) {
          const { values } = await ask('GET', `/v1/metrics/${metric}?project=shop&${range}`)
          expect(values, `${metric}, ${weeks} weeks`).toMatchObject([counts])
          expect(values[0].value, `${metric}, ${weeks} weeks`).toBeCloseTo(value, 6)
        }
      }
    } finally {
      await server.stop()
      for (const fake of [azure, argocd, pagerduty]) await fake.stop()
    }
  })
})
