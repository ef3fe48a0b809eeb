import { z } from 'zod'
import { type CollectedElsewhere, collectedElsewhere } from '../../control-plane/projects/collected-elsewhere.ts'
import { measureOne } from '../../control-plane/projects/measure.ts'
import { lacksOf } from '../../control-plane/projects/partial-data.ts'
import { projectFindings } from '../../control-plane/projects/project-findings.ts'
import { policyOfProject } from '../../control-plane/projects/project-policy.ts'
import type { Project } from '../../control-plane/records.ts'
import { type Attention, readAttention } from '../../control-plane/runs/attention.ts'
import { runUnderWay, underWayWords } from '../../control-plane/runs/run-under-way.ts'
import type { ServiceContext } from '../../control-plane/services.ts'
import type { Database } from '../../database/database.ts'
import { TASK_STATUSES } from '../../domain/enums.ts'
import { fourKeys } from '../../metrics/index.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { visibleProjects } from '../access/gate.ts'
import { plain, type Routes } from '../api.ts'
import { collectedBy } from '../contract/collected-by.ts'
import { answers, timeOrNull } from '../contract/common.ts'
import { standing, standingAnswer, standingInGeneral } from '../contract/standing.ts'
import { inTime } from '../in-time.ts'
import { rangeOf } from '../metric-filter.ts'

const tags = ['overview']
/** Enough for a first look; the list of projects has the rest. */
const PROJECTS = 6
const REPORT = '2023'

const attention = z.object({
  standing: z
    .array(standing)
    .meta({ description: 'Why the collection stands still, the worst first; empty: it does not, as far as is known.' }),
  isWhole: z.boolean().meta({
    description: 'False: the database does not answer in time, so nothing but `standing` is known.',
  }),
  hasRun: z.boolean().meta({ description: 'Whether any run has ended.' }),
  runs: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      project: z.string(),
      status: z.enum(TASK_STATUSES),
      message: z.string(),
      finishedAt: timeOrNull,
    }),
  ),
  connections: z.array(
    z.object({
      plugin: z.string(),
      title: z.string(),
      connectionId: z.int(),
      name: z.string(),
      message: z.string(),
      failedRun: z.int().nullable().meta({ description: 'The run that failed with it; null: a test did.' }),
      scopes: z.int(),
    }),
  ),
  gaps: z.object({ count: z.int(), scopes: z.int() }),
  quarantined: z.int(),
})
const keyValue = z.object({
  metric: z.string(),
  title: z.string(),
  unit: z.string(),
  value: z.number().nullable(),
  inWords: z.string(),
  band: z.enum(['elite', 'high', 'medium', 'low']).nullable(),
  noGrade: z.string().nullable().meta({ description: 'Where a value has no band: why.' }),
})
const overview = z.object({
  count: z.int().meta({ description: 'Of all projects.' }),
  projects: z.array(
    z.object({
      name: z.string(),
      lastRun: z
        .object({ id: z.int(), status: z.enum(TASK_STATUSES), finishedAt: timeOrNull })
        .nullable()
        .meta({ description: 'Null: it never ran.' }),
      collectedBy,
      keys: z.array(keyValue),
      partial: z
        .array(z.string())
        .meta({ description: 'What the numbers lack, a sentence each; empty: nothing is known to.' }),
      why: z.string().nullable().meta({ description: 'Where there is no number: the reason, and what to do.' }),
    }),
  ),
})

const NOTHING: Attention = {
  hasRun: false,
  runs: [],
  connections: [],
  gaps: { count: 0, scopes: 0 },
  quarantined: 0,
}
/** The data of the first page in two answers: what needs attention comes at once, the numbers once they are calculated. */
export const overviewRoutes: Routes = (api, { control, database, services, shared, standstill }) => {
  api.get(
    '/v1/attention',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary:
          'What needs attention: why the collection stands still, failed runs, failing connections, gaps, and records that were put aside',
        response: answers(200, attention),
      },
    },
    async (request) => {
      const projects = visibleProjects(request)
      const { standing: all } = await standstill.latest()
      const told = all.map((each) => (projects ? standingInGeneral(each) : standingAnswer(each)))
      const rest = await inTime(database, readAttention(control.context, projects))
      return plain({ standing: told, isWhole: rest !== undefined, ...(rest ?? NOTHING) })
    },
  )
  api.get(
    '/v1/overview',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `The newest ${PROJECTS} projects with their four keys of the last six months, or why they have none`,
        response: answers(200, overview),
      },
    },
    async (request, reply) => {
      const names = visibleProjects(request)
      const answer = await shared.share(JSON.stringify(['overview', names]), async () => {
        const { count, items } = await services.projects.list({ pageSize: PROJECTS, ...(names && { names }) })
        const projects = []
        for (const project of items) projects.push(await summaryOf(control.context, project, names))
        return { count, projects }
      })
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  )
}

async function summaryOf(
  context: ServiceContext,
  { name, blueprint, lastPipeline }: Project,
  visible: readonly string[] | undefined,
) {
  const { database } = context
  const policy = await policyOfProject(database, name)
  const filter: MetricFilter = { project: name, environment: 'PRODUCTION', policy, ...rangeOf({}) }
  const keys = []
  for (const metric of fourKeys) {
    const { value, inWords, grades, noGrade } = await measureOne(context, metric, filter)
    const band = grades.find(({ report }) => report === REPORT)?.band ?? null
    const about = { metric: metric.name, title: metric.title, unit: metric.unit }
    keys.push({ ...about, value, inWords, band, noGrade: noGrade?.because ?? null })
  }
  const lastRun = lastPipeline && {
    id: lastPipeline.id,
    status: lastPipeline.status,
    finishedAt: lastPipeline.finishedAt ?? null,
  }
  const elsewhere = lastRun ? undefined : await collectedElsewhere(context, name, visible)
  const hasNumbers = keys.some(({ value }) => value !== null)
  return {
    name,
    lastRun: lastRun ?? null,
    collectedBy: elsewhere ?? null,
    keys,
    partial: hasNumbers ? (await lacksOf(context, name)).map(({ seen }) => seen) : [],
    why: hasNumbers
      ? null
      : await whyNone(database, filter, { hasRun: !!lastRun, hasScopes: !!blueprint?.connections.length, elsewhere }),
  }
}

interface Known {
  readonly hasRun: boolean
  readonly hasScopes: boolean
  readonly elsewhere: CollectedElsewhere | undefined
}

async function whyNone(
  database: Database,
  filter: MetricFilter,
  { hasRun, hasScopes, elsewhere }: Known,
): Promise<string> {
  if (!hasScopes) return 'Nothing is chosen to be collected: add connections and scopes to its blueprint.'
  const underWay = await runUnderWay(database.kysely, filter.project)
  if (underWay !== undefined) return underWayWords(underWay)
  if (elsewhere) return 'This project has not run yet, so nothing was calculated for it: start a run.'
  if (!hasRun) return 'Nothing was collected yet: start a run.'
  for (const metric of fourKeys) {
    const [finding] = await projectFindings(database, metric, filter)
    if (finding) return `${finding.seen} ${finding.remedy}`
  }
  return 'Nothing that counts happened in the last six months.'
}
