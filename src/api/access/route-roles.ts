/**
 * Which role each route asks for at least: the one table, but for routes of plugins, which say it themselves. A route
 * that is not in it asks for admin, and fails a test.
 */
import type { Role } from '../../config.ts'
import { plugins } from '../../plugins/index.ts'

/**
 * Where the role must be held: `everywhere`, that is without a project; `somewhere`, in any project (what the route shows
 * is no project's own, or it shows only those of the asker); or in the one project that this part of the request leads to.
 */
export type Reach = 'everywhere' | 'somewhere' | ProjectOf
export type ProjectOf = 'path' | 'query' | 'body' | 'blueprint' | 'pipeline' | 'task'

export interface RouteRule {
  /**
   * `anyone`: without signing in. `probe`: besides, it is never limited and never looks at who asks. `signed`: what is sent
   * carries a signature, which the route checks itself.
   */
  readonly least: 'probe' | 'anyone' | 'signed' | Role
  readonly reach: Reach
}

const CONNECTION = '/plugins/:plugin/connections/:connectionId'
const DELIVERIES = '/v1/plugins/:plugin/connections/:connectionId/deliveries'
const SWITCH = '/v1/traffic-switches'
const CONNECTION_BY_NAME = '/plugins/:plugin/connections/by-name/:connectionName'
/** Where and what push sources send. */
const PUSH_PLACES = [CONNECTION, CONNECTION_BY_NAME, '/plugins/:plugin/:connectionId']
const MESSAGES = ['deployments', 'pull_requests', 'issues', 'issue/:issueKey/close']
const all = (method: string, ...paths: readonly string[]) => paths.map((path) => `${method} ${path}`)

const TABLE: readonly (readonly [RouteRule['least'], Reach, readonly string[]])[] = [
  ['probe', 'everywhere', all('GET', '/ping', '/ready', '/health')],
  [
    'anyone',
    'everywhere',
    [
      ...all('GET', '/', '/assets/*', '/version', '/proceed-db-migration', '/v1/access'),
      ...all('GET', '/swagger', '/swagger/index.html', '/swagger/doc.json'),
      ...all('GET', '/auth/methods', '/auth/login', '/auth/callback', '/auth/userinfo'),
      ...all('POST', '/auth/token', '/auth/logout'),
      // Whoever has the token of a link.
      ...all('GET', '/v1/shared/:token', '/v1/shared/:token/panels/:panel'),
    ],
  ],
  ['signed', 'everywhere', [`POST ${DELIVERIES}`]],
  [
    'viewer',
    'somewhere',
    [
      ...all('GET', '/projects', '/blueprints', '/pipelines', '/store/:key'),
      ...all('GET', '/plugins', '/plugininfo', '/v1/sources', '/v1/metrics'),
      ...all('GET', '/v1/attention', '/v1/overview', '/v1/alerts'),
      ...all('GET', '/v1/dashboards', '/v1/dashboards/:dashboard', '/v1/dashboards/:dashboard/variables/:variable'),
      'GET /v1/dashboards/:dashboard/panels/:panel',
      ...all('GET', '/v1/own-dashboards', '/v1/own-dashboards/:id'),
      ...all('GET', '/v1/four-keys', '/v1/schedules/next', '/v1/plans/plugins'),
      'POST /v1/plans/check',
      // What it tells is asked for in the name of the asker.
      'POST /v1/mcp',
    ],
  ],
  ['viewer', 'path', all('GET', '/projects/:projectName', '/projects/:projectName/check')],
  [
    'viewer',
    'query',
    [
      ...all('GET', '/v1/receipts', '/v1/quarantine', '/v1/service-report', '/v1/annotations'),
      ...all('GET', '/v1/rollouts', '/v1/number-changes', '/v1/partial-data'),
      ...['', '/series', '/items', '/explanation', '/policies'].map((part) => `GET /v1/metrics/:metric${part}`),
    ],
  ],
  ['viewer', 'body', ['POST /v1/metrics/rule-preview']],
  [
    'viewer',
    'blueprint',
    [
      ...all('GET', '/blueprints/:id', '/blueprints/:id/pipelines'),
      ...all('GET', '/v1/blueprints/:id/plan', '/v1/blueprints/:id/selectors'),
    ],
  ],
  [
    'viewer',
    'pipeline',
    [
      ...['', '/tasks', '/subtasks', '/logging.tar.gz'].map((part) => `GET /pipelines/:id${part}`),
      ...all('GET', '/v1/pipelines/:id/events', '/v1/pipelines/:id/subjects'),
    ],
  ],
  ['viewer', 'task', all('GET', '/v1/tasks/:id/log', '/v1/tasks/:id/steps')],
  [
    'viewer',
    'everywhere',
    [
      ...all('GET', '/v1/connections', '/v1/connections/:plugin/:connectionId/scopes'),
      ...all('GET', '/plugins/:plugin/connections', '/plugins/:plugin/scope-config/:scopeConfigId/projects'),
      ...['', '/scopes', '/scopes/:scopeId', '/scopes/:scopeId/latest-sync-state'].map(
        (part) => `GET ${CONNECTION}${part}`,
      ),
      ...['/scope-configs', '/scope-configs/:scopeConfigId'].map((part) => `GET ${CONNECTION}${part}`),
      ...all('GET', CONNECTION_BY_NAME, '/v1/webhook-deliveries'),
      ...all('GET', '/metrics', '/v1/storage', '/v1/health', '/v1/queue', DELIVERIES, `${DELIVERIES}/setup`),
      ...['scopes', 'tables', 'rows', 'record', 'domain-row'].map((part) => `GET /v1/data/${part}`),
      'GET /domainlayer/repos',
      ...all('POST', '/v1/plans/preview', '/v1/patterns/match'),
      ...['', '/:id', '/:id/manifests', '/:id/gates', '/:id/live', '/:id/journal', '/:id/events'].map(
        (part) => `GET ${SWITCH}${part}`,
      ),
      ...['/lint', '/:id/validate', '/:id/diff', '/:id/simulate'].map((part) => `POST ${SWITCH}${part}`),
    ],
  ],
  ['operator', 'path', ['POST /plugins/:plugin/projects/:projectName/deployments']],
  ['operator', 'body', all('POST', '/v1/quarantine/redrive', '/v1/gaps/ask-again')],
  ['operator', 'blueprint', ['POST /blueprints/:id/trigger']],
  ['operator', 'pipeline', ['DELETE /pipelines/:id', 'POST /pipelines/:id/rerun']],
  ['operator', 'task', ['POST /tasks/:id/rerun']],
  [
    'operator',
    'somewhere',
    ['POST /v1/own-dashboards', 'PATCH /v1/own-dashboards/:id', 'DELETE /v1/own-dashboards/:id'],
  ],
  [
    'operator',
    'everywhere',
    [
      ...all('POST', '/pipelines', '/push/:tableName', `${DELIVERIES}/:id/replay`),
      'PUT /store/:key',
      // What is behind a link is open to everybody.
      ...['GET /v1/shared-dashboards', 'POST /v1/shared-dashboards', 'DELETE /v1/shared-dashboards/:id'],
      ...PUSH_PLACES.flatMap((place) => MESSAGES.map((message) => `POST ${place}/${message}`)),
      'POST /v1/traffic-imports',
      ...['', '/:id/preflight', '/:id/transitions', '/:id/approve', '/:id/reverse'].map(
        (part) => `POST ${SWITCH}${part}`,
      ),
      `PUT ${SWITCH}/:id`,
    ],
  ],
  ['admin', 'path', ['PATCH /projects/:projectName', 'DELETE /projects/:projectName']],
  [
    'admin',
    'blueprint',
    [...['PATCH /blueprints/:id', 'DELETE /blueprints/:id'], 'DELETE /v1/blueprints/:id/selectors/:selectorId'],
  ],
  [
    'admin',
    'everywhere',
    [
      ...all('POST', '/projects', '/blueprints'),
      ...['GET /api-keys', 'POST /api-keys', 'PUT /api-keys/:id', 'DELETE /api-keys/:id'],
      ...all('GET', '/v1/audit', '/v1/audit/export', '/v1/config'),
      ...all('POST', '/v1/config/plan', '/v1/config/apply', `${DELIVERIES}/secret`),
      ...[`PUT ${DELIVERIES}/secret`, `DELETE ${DELIVERIES}/secret`],
      ...all('POST', '/plugins/:plugin/connections', '/plugins/:plugin/test', `${CONNECTION}/test`),
      ...all('PATCH', CONNECTION, `${CONNECTION}/scopes/:scopeId`, `${CONNECTION}/scope-configs/:scopeConfigId`),
      ...all('DELETE', CONNECTION, `${CONNECTION}/scopes/:scopeId`, `${CONNECTION}/scope-configs/:scopeConfigId`),
      ...[`PUT ${CONNECTION}/scopes`, `POST ${CONNECTION}/scope-configs`],
      // These ask the source with the stored secrets.
      ...all('POST', '/v1/connections/:plugin/:connectionId/matches', '/v1/blueprints/:id/selectors'),
      ...['remote-scopes', 'search-remote-scopes', 'proxy/rest/*'].map((part) => `GET ${CONNECTION}/${part}`),
      ...['POST /v1/alerts', 'PATCH /v1/alerts/:id', 'DELETE /v1/alerts/:id', 'POST /v1/alerts/:id/test'],
      'GET /v1/names',
      ...[`PATCH ${CONNECTION_BY_NAME}`, `DELETE ${CONNECTION_BY_NAME}`],
    ],
  ],
]

const RULES = new Map([
  ...TABLE.flatMap(([least, reach, routes]) => routes.map((route): [string, RouteRule] => [route, { least, reach }])),
  ...plugins.flatMap(({ routes = [] }) =>
    routes.map(({ method, path, least, reach = 'everywhere' }): [string, RouteRule] => [
      `${method} ${path}`,
      { least, reach },
    ]),
  ),
])
const UNKNOWN: RouteRule = { least: 'admin', reach: 'everywhere' }

/** `url` as the route was declared; a source's own name stands where the table says `:plugin`. */
export function findRule(method: string, url: string): RouteRule | undefined {
  const asked = method === 'HEAD' ? 'GET' : method
  return (
    RULES.get(`${asked} ${url}`) ?? RULES.get(`${asked} ${url.replace(/^\/plugins\/[^/:]+\//, '/plugins/:plugin/')}`)
  )
}
export const ruleOf = (method: string, url: string | undefined): RouteRule =>
  (url === undefined ? undefined : findRule(method, url)) ?? UNKNOWN

/** All that the table names, for the test that holds it against the routes. */
export const ruledRoutes: readonly string[] = [...RULES.keys()]
