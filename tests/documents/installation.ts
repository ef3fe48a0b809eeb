/** The installation that examples in the documents assume: project shop, its sources, and a run that has ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveServer } from '../api/support/live-server.ts'
import { DEFAULT_TOKEN } from '../fake-github/fake-github.ts'
import { startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { startOrganisation } from '../support/organisation.ts'

const CONFIG = (url: string) => `
connections:
  github:
    main: { endpoint: ${url}/, token: { env: GITHUB_TOKEN } }
  webhook:
    ci: {}
projects:
  shop:
    schedule: manual
    collect:
      - { connection: github/main, scopes: [acme/*] }
      - { connection: webhook/ci }
`
const UNFINISHED = ['TASK_CREATED', 'TASK_RUNNING']

export interface Installation {
  /** Variables that the examples use. */
  readonly variables: Readonly<Record<string, string>>
  /** The address at which the file of the first example finds GitHub. */
  readonly github: string
  stop(): Promise<void>
}

export async function installExample({ ask }: LiveServer): Promise<Installation> {
  const [github, jira] = await Promise.all([startOrganisation(), startFakeJira()])
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  await done('POST', '/v1/config/apply', { config: CONFIG(github.url), variables: { GITHUB_TOKEN: DEFAULT_TOKEN } })
  const keyOf = { name: 'ci', type: 'devlake', allowedPath: '/plugins/webhook/connections/1/.*' }
  const { apiKey } = await done('POST', '/api-keys', keyOf)
  await done('POST', '/plugins/jira/connections', { name: 'main', endpoint: jira.url, ...USER })
  await done('PUT', '/plugins/jira/connections/1/scopes', { data: [{ boardId: 8, name: 'Shop' }] })
  const { id } = await done('POST', '/blueprints/1/trigger', {})
  while (UNFINISHED.includes((await done('GET', `/pipelines/${id}`)).status)) await sleep(200)
  return {
    variables: { GITHUB_TOKEN: DEFAULT_TOKEN, JIRA_MAIN_PASSWORD: USER.password, KEY: apiKey },
    github: `${github.url}/`,
    stop: async () => void (await Promise.all([github.stop(), jira.stop()])),
  }
}
