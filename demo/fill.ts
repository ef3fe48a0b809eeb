/** Does over the API everything that the people of the organisation do with Weir. */
import { initialPlan } from '../src/traffic/model/init.ts'
import { configOf, VARIABLES } from './config.ts'
import type { ServiceStory } from './happenings.ts'
import { boardName, CATEGORY_FIELD } from './jira.ts'
import { OWNER } from './organisation.ts'
import { connectAccounts, importPeople } from './people.ts'
import { report } from './reports.ts'
import type { Vendors } from './vendors.ts'

/** A body that is not JSON comes with its type. Refusals are errors. */
export type Ask = (method: string, path: string, body?: object | Buffer, type?: string) => Promise<any>

export interface Filling {
  readonly stories: readonly ServiceStory[]
  readonly vendors: Vendors
  readonly ask: Ask
  say(line: string): void
  /** Waits for the end of a run, and tells its status. */
  finished(run: number): Promise<string>
}

const CATEGORY = { columnName: 'x_issue_category', displayName: 'Issue category', dataType: 'varchar(255)' }

export async function fillDemo(filling: Filling): Promise<void> {
  const { stories, vendors, ask, say } = filling
  await ask('POST', '/v1/config/apply', { config: configOf(stories, vendors), variables: VARIABLES })
  await importPeople(ask)
  await ask('POST', '/plugins/customize/incidents/fields', CATEGORY)
  const blueprints = await mapCategories(filling)
  spoilCollection(filling)
  // The smallest one first, alone, so that there is something to look at soon.
  const [first, ...others] = [...stories].sort((one, other) => one.changes.length - other.changes.length)
  if (!first) return
  const run = async ({ service }: ServiceStory) => {
    const { id } = await ask('POST', `/blueprints/${blueprints.get(service.title)}/trigger`, {})
    return id as number
  }
  const firstRun = await run(first)
  await filling.finished(firstRun)
  await connectAccounts(ask)
  say(`the first project is there: ${addressOf(first)}`)
  const runs: (readonly [ServiceStory, number])[] = []
  for (const story of others) runs.push([story, await run(story)])
  await useOtherPages(filling, first)
  for (const story of stories) await report(ask, story)
  for (const [story, id] of runs) {
    await filling.finished(id)
    say(`collected: ${addressOf(story)}`)
  }
  await connectAccounts(ask)
  await failOnce(filling, boardOf(filling, first), () => run(first))
}

const addressOf = ({ service }: ServiceStory) => `/dashboards/dora?var-project=${encodeURIComponent(service.title)}`

/** The kind of an incident comes from a field of Jira after each run. Returns the blueprints by project. */
async function mapCategories({ ask, stories }: Filling): Promise<ReadonlyMap<string, number>> {
  const connectionId = await connectionOf(ask, 'jira')
  const { scopes } = await ask('GET', `/plugins/jira/connections/${connectionId}/scopes?pageSize=100`)
  const { projects } = await ask('GET', `/projects?pageSize=${stories.length}`)
  const mapping = {
    table: 'incidents',
    field: CATEGORY.columnName,
    rawTable: '_raw_jira_api_issues',
    plugin: 'jira',
    connectionId,
    scopeId: String(scopes[0].scope.boardId),
    reach: 'connection',
    path: `fields.${CATEGORY_FIELD}.value`,
  }
  for (const { blueprint } of projects) await ask('POST', `/v1/blueprints/${blueprint.id}/mappings`, mapping)
  return new Map(projects.map(({ name, blueprint }: any) => [name, blueprint.id]))
}

async function connectionOf(ask: Ask, plugin: string): Promise<number> {
  const connections = await ask('GET', `/plugins/${plugin}/connections`)
  return connections.find(({ name }: any) => name === OWNER).id
}

/** CircleCI refuses the jobs of one workflow, once: a gap, until the next run asks again. */
function spoilCollection({ vendors: { circleci } }: Filling): void {
  const [workflow] = circleci.pipelines.flatMap(({ id }) => circleci.workflowsOf(id))
  if (workflow)
    circleci.failures.push({ path: `/workflow/${workflow.id}/job`, status: 403, message: 'Permission denied.' })
}

const ALERTS = [
  {
    kind: 'threshold',
    name: 'Changes that fail',
    metric: 'change-failure-rate',
    direction: 'above',
    threshold: 0.15,
    windowDays: 180,
    forDays: 14,
  },
  { kind: 'digest', name: 'Every Monday', weekday: 'monday', hour: 8 },
]
const MEETING = [
  { dashboard: 'dora', panel: 'change-lead-time', width: 12 },
  { dashboard: 'dora', panel: 'deployment-frequency', width: 12 },
  { dashboard: 'pull-requests', panel: 'oldest-open-pull-requests', width: 24 },
]

/** Alerts, a key, a public link, a dashboard of somebody's own, and the plan of a traffic switch. */
async function useOtherPages({ ask, vendors }: Filling, { service: { title: project, name } }: ServiceStory) {
  for (const alert of ALERTS) {
    await ask('POST', '/v1/alerts', { ...alert, project, target: { kind: 'slack', url: vendors.chat.url } })
  }
  await ask('POST', '/api-keys', { name: 'Reports', type: 'devlake', allowedPath: '/v1/metrics/.*', role: 'viewer' })
  await ask('POST', '/v1/shared-dashboards', { dashboard: 'dora', values: { project } })
  await ask('POST', '/v1/own-dashboards', { title: 'Monday meeting', panels: MEETING })
  await ask('POST', '/v1/traffic-switches', { yaml: initialPlan(name, 'standard') })
}

const boardOf = ({ vendors: { jira } }: Filling, { service }: ServiceStory): number =>
  jira.boards.find(({ name }) => name === boardName(service.title))?.id ?? 0

/** Jira refuses a board, as it does when a token has expired. */
async function failOnce({ vendors: { jira }, finished, say }: Filling, board: number, run: () => Promise<number>) {
  const path = `agile/1.0/board/${board}/issue`
  jira.instead.set(path, {
    status: 401,
    body: { errorMessages: ['Client must be authenticated to access this resource.'] },
  })
  const status = await finished(await run())
  jira.instead.delete(path)
  say(`one run failed on purpose (${status}): the dashboard "Collection health" tells why`)
}
