/** Fills a server so that every page has content: collects once from the fake GitHub, by the API alone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { initialPlan } from '../../../traffic/model/init.ts'
import type { LiveServer } from '../../api/support/live-server.ts'
import { DEFAULT_TOKEN } from '../../fake-github/fake-github.ts'
import { startOrganisation } from '../../support/organisation.ts'

/** A repository that GitHub lists but nobody can clone. */
const LOST = 'acme/lost'

const LOST_PROJECT = `
  lost:
    schedule: manual
    collect:
      - { connection: github/main, scopes: [${LOST}] }
`

export interface Filled {
  readonly project: string
  readonly connectionId: number
  readonly scopeId: string
  readonly scopeConfigId: number
  readonly blueprintId: number
  readonly runId: number
  readonly webhookId: number
  readonly switchId: string
  /** The token of a public link to a dashboard. */
  readonly sharedToken: string
  /** A project and a connection with very unusual names. */
  readonly odd: Pick<Filled, 'project' | 'connectionId' | 'scopeConfigId' | 'webhookId'>
  /** Stops the fake GitHub. Until then pages can ask the source. */
  stop(): Promise<void>
}

const LONGEST_NAME = 100
export const ODD_NAME = `⚙️ a/b%20c \u200fעברית ${'n'.repeat(200)}`.slice(0, LONGEST_NAME)

const CONFIG = (url: string) => `
connections:
  github:
    main:
      endpoint: ${url}/
      token: \${TOKEN}
      scopeConfigs:
        rules: { entities: [CODE, TICKET, CODEREVIEW, CICD], productionPattern: production }
  webhook:
    ci: {}
projects:
  shop:
    description: Everything the shop is made of
    schedule: manual
    collect:
      - { connection: github/main, scopes: [acme/web] }
      - connection: webhook/ci
`

/** Fills the server. `withLost` adds another project, whose repository cannot be cloned. */
export async function fill(
  { ask }: Pick<LiveServer, 'ask'>,
  { withLost = false }: { readonly withLost?: boolean } = {},
): Promise<Filled> {
  const github = await startOrganisation({ uncloned: withLost ? [LOST] : [] })
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, `/api${path}`, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const config = `${CONFIG(github.url)}${withLost ? LOST_PROJECT : ''}`
  await done('POST', '/v1/config/apply', { config, variables: { TOKEN: DEFAULT_TOKEN } })
  const [connection] = await done('GET', '/plugins/github/connections')
  const at = `/plugins/github/connections/${connection.id}`
  const [webhook] = await done('GET', '/plugins/webhook/connections')
  const { scopes } = await done('GET', `${at}/scopes`)
  const [scopeConfig] = await done('GET', `${at}/scope-configs`)
  const { blueprint } = await done('GET', '/projects/shop')

  const now = new Date().toISOString()
  const sent = `/plugins/webhook/connections/${webhook.id}`
  await done('POST', `${sent}/issues`, {
    issueKey: 'INC-1',
    title: 'Checkout is down',
    type: 'INCIDENT',
    status: 'TODO',
    originalStatus: 'open',
    createdDate: now,
  })
  await ask('POST', `/api${sent}/deployments`, { id: 'incomplete' })
  await done('POST', '/api-keys', { name: 'reports', type: 'devlake', allowedPath: '/v1/metrics/.*', role: 'viewer' })
  const { id: switchId } = await done('POST', '/v1/traffic-switches', { yaml: initialPlan('shop', 'standard') })

  const link = { dashboard: 'dora', values: { project: 'shop' } }
  const { token: sharedToken } = await done('POST', '/v1/shared-dashboards', link)
  await done('POST', '/projects', { name: ODD_NAME, description: ODD_NAME })
  const odd = { name: ODD_NAME, endpoint: `${github.url}/`, authMethod: 'AccessToken', token: DEFAULT_TOKEN }
  const { id: oddConnection } = await done('POST', '/plugins/github/connections', odd)
  const rules = { name: ODD_NAME, entities: ['CODE'] }
  const { id: oddConfig } = await done('POST', `/plugins/github/connections/${oddConnection}/scope-configs`, rules)
  const { id: oddWebhook } = await done('POST', '/plugins/webhook/connections', { name: ODD_NAME })

  const run = await done('POST', `/blueprints/${blueprint.id}/trigger`, {})
  await finished(done, run.id)
  if (withLost) {
    const { blueprint: lost } = await done('GET', '/projects/lost')
    const { id } = await done('POST', `/blueprints/${lost.id}/trigger`, {})
    await finished(done, id, 'TASK_PARTIAL')
  }
  return {
    project: 'shop',
    connectionId: connection.id,
    scopeId: String(scopes[0].scope.githubId),
    scopeConfigId: scopeConfig.id,
    blueprintId: blueprint.id,
    runId: run.id,
    webhookId: webhook.id,
    switchId,
    sharedToken,
    odd: { project: ODD_NAME, connectionId: oddConnection, scopeConfigId: oddConfig, webhookId: oddWebhook },
    stop: () => github.stop(),
  }
}

const OVER = ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED']

async function finished(
  ask: (method: string, path: string) => Promise<any>,
  id: number,
  expected = 'TASK_COMPLETED',
): Promise<void> {
  for (;;) {
    const { status, message } = await ask('GET', `/pipelines/${id}`)
    if (status === expected) return
    if (OVER.includes(status)) throw new Error(`the run ended as ${status}: ${message}`)
    await sleep(200)
  }
}
