/**
 * The part of SonarQube's Web API that the plugin uses, from https://next.sonarqube.com/sonarqube/web_api: pages of at most
 * 500, only the first 10,000 records of a list, and parameters that depend on its version.
 */
import { type Answer, startFakeSource } from '../support/fake-source.ts'
import { createWorld, type FakeFile, type FakeHotspot, type FakeIssue, type FakeProject } from './world.ts'

export const TOKEN = 'squ_secret'
const PREFIX = '/api/'
const CAP = 10_000
const LARGEST_PAGE = 500

export type FakeSonarqube = Awaited<ReturnType<typeof startFakeSonarqube>>

const refuse = (status: number, msg: string): Answer => [status, { errors: [{ msg }] }]
const missing = (key: string | null) => refuse(404, `Component key '${key}' not found`)
const dated = (time: Date) => time.toISOString().replace(/\.\d+Z$/, '+0000')

export async function startFakeSonarqube() {
  const world = createWorld()
  const server = { version: '2025.4.1', isTokenValid: true }
  const authorization = `Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`
  const source = await startFakeSource({ Authorization: authorization }, (address) => answerTo(address))
  const projectOf = (key: string | null) => world.projects.find((each) => each.key === key)

  function listed<Thing>(
    all: readonly Thing[],
    { searchParams }: URL,
    name: string,
    shape: (thing: Thing) => object,
  ): Answer {
    const p = Number(searchParams.get('p') ?? 1)
    const ps = Number(searchParams.get('ps') ?? 100)
    if (ps > LARGEST_PAGE) return refuse(400, `'ps' value (${ps}) must be less than ${LARGEST_PAGE}`)
    if (p * ps > CAP) return refuse(400, `Can return only the first ${CAP} results. ${p * ps}th result asked.`)
    const page = all.slice((p - 1) * ps, p * ps).map(shape)
    return [200, { paging: { pageIndex: p, pageSize: ps, total: all.length }, [name]: page }]
  }

  function issuesIn(address: URL): Answer {
    const { searchParams } = address
    const param = /^(9|10\.[01]\b|8)/.test(server.version) ? 'componentKeys' : 'components'
    const project = projectOf(searchParams.get(param))
    if (!project) return missing(searchParams.get(param))
    const [from, to] = ['createdAfter', 'createdBefore'].map((name) => Date.parse(searchParams.get(name) ?? ''))
    const isOf = (name: string, value: string) =>
      !searchParams.get(name) || searchParams.get(name)?.split(',').includes(value)
    const found = project.issues.filter(
      ({ created, type, severity, status }) =>
        !(created.getTime() < (from as number) || created.getTime() >= (to as number)) &&
        isOf('types', type) &&
        isOf('severities', severity) &&
        isOf('statuses', status),
    )
    found.sort((one, other) => one.created.getTime() - other.created.getTime() || (one.key < other.key ? -1 : 1))
    return listed(found, address, 'issues', (issue) => issueOf(project, issue))
  }

  function measuresIn(address: URL): Answer {
    const { searchParams } = address
    const project = projectOf(searchParams.get('component'))
    const metrics = (searchParams.get('metricKeys') ?? '').split(',')
    if (metrics.length > 15) return refuse(400, `'metricKeys' can contain only 15 values, got ${metrics.length}`)
    if (!project) return missing(searchParams.get('component'))
    const files = [...project.files].sort((one, other) => (one.path < other.path ? -1 : 1))
    if (searchParams.get('asc') === 'false') files.reverse()
    return listed(files, address, 'components', (file) => fileOf(project, file, metrics))
  }

  function projectsIn(address: URL): Answer {
    const [, term = ''] = /query = "(.*)"/.exec(address.searchParams.get('filter') ?? '') ?? []
    const found = world.projects.filter(({ key, name }) => `${key} ${name}`.toLowerCase().includes(term.toLowerCase()))
    return listed(found, address, 'components', shownProject)
  }

  function answerTo(address: URL): Answer {
    const { pathname, searchParams } = address
    const path = pathname.slice(PREFIX.length)
    if (path === 'system/status') return [200, { id: '1', version: server.version, status: 'UP' }]
    if (path === 'authentication/validate') return [200, { valid: server.isTokenValid }]
    if (path === 'components/search_projects') return projectsIn(address)
    if (path === 'issues/search') return issuesIn(address)
    if (path === 'measures/component_tree') return measuresIn(address)
    if (path === 'users/search') return listed(world.users, address, 'users', (user) => user)
    const key = searchParams.get('component') ?? searchParams.get('project') ?? searchParams.get('projectKey')
    const project = projectOf(key)
    if (!project) return missing(key)
    if (path === 'components/show') return [200, { component: shownProject(project) }]
    if (path === 'project_analyses/search')
      return listed(project.analyses, address, 'analyses', ({ date, revision }) => ({ date: dated(date), revision }))
    if (path === 'hotspots/search')
      return listed(project.hotspots, address, 'hotspots', (hotspot) => hotspotOf(project, hotspot))
    if (path === 'qualitygates/project_status') return [200, { projectStatus: gateOf(project) }]
    return refuse(404, `Unknown url : ${pathname}`)
  }
  return Object.assign(source, world, {
    endpoint: new URL(`.${PREFIX}`, source.url).href,
    server,
    /** Sets one clock for events and for the dates of answers. */
    setNow(now: () => Date) {
      Object.assign(source, { now })
      world.now = now
    },
  })
}

const shownProject = ({ key, name, analyses: [latest] }: FakeProject) => ({
  key,
  name,
  qualifier: 'TRK',
  visibility: 'private',
  ...(latest && { analysisDate: dated(latest.date) }),
})

const rangeOf = (line: number) => ({ startLine: line, endLine: line, startOffset: 0, endOffset: 10 })

function issueOf({ key: project }: FakeProject, issue: FakeIssue) {
  const [line = 1, ...others] = issue.lines
  const component = `${project}:${issue.file}`
  return {
    key: issue.key,
    rule: 'ts:S1',
    severity: issue.severity,
    component,
    project,
    line,
    hash: 'h',
    author: 'ada@example.com',
    textRange: rangeOf(line),
    flows: others.map((each) => ({ locations: [{ component, textRange: rangeOf(each), msg: `see line ${each}` }] })),
    status: issue.status,
    message: 'Improve this.',
    effort: '1d2h30min',
    debt: '5min',
    tags: ['design', 'cert'],
    creationDate: dated(issue.created),
    updateDate: dated(issue.updated),
    type: issue.type,
    scope: 'MAIN',
    impacts: [{ softwareQuality: 'MAINTAINABILITY', severity: 'HIGH' }],
  }
}

const hotspotOf = ({ key: project }: FakeProject, hotspot: FakeHotspot) => ({
  key: hotspot.key,
  component: `${project}:src/a.ts`,
  project,
  securityCategory: 'auth',
  vulnerabilityProbability: 'HIGH',
  status: hotspot.status,
  line: 7,
  message: 'Review this.',
  ruleKey: 'ts:S2',
  creationDate: dated(hotspot.created),
  updateDate: dated(hotspot.updated),
})

const fileOf = ({ key }: FakeProject, { path, measures }: FakeFile, metrics: readonly string[]) => ({
  key: `${key}:${path}`,
  name: path.split('/').at(-1),
  qualifier: 'FIL',
  path,
  language: 'ts',
  measures: metrics.flatMap((metric) => (metric in measures ? [{ metric, value: measures[metric] }] : [])),
})

const gateOf = ({ gate }: FakeProject) => ({
  status: gate,
  conditions: [
    {
      status: gate,
      metricKey: 'new_coverage',
      comparator: 'LT',
      errorThreshold: '80',
      actualValue: gate === 'OK' ? '91' : '40',
    },
  ],
  ignoredConditions: false,
})
