/** Several projects read as one: the numbers are those of the plain statements of each project, put together by hand. */
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { frequencyOf, lowerMedian } from '../../src/metrics/grades/frequency.ts'
import { metricNamed, metrics } from '../../src/metrics/index.ts'
import type { Item, Metric, MetricFilter } from '../../src/metrics/metric.ts'
import { DEFAULT_POLICY, POLICIES, type Policy } from '../../src/metrics/policy/policy.ts'
import { readManySeries, readMetric, readMetrics } from '../../src/metrics/read/read.ts'
import { countAgainst, countItems, readItems } from '../../src/metrics/read/read-items.ts'
import { metricOf, type Whole, wholeOfParts } from '../../src/metrics/whole.ts'
import { allTables } from '../../src/tables.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { calculate } from './calculate.ts'
import { DAY, plantOrganisation, START } from './organisation.ts'

const STEPS = 24
const RUNS = process.env.FULL_SIZE === 'true' ? 500 : 60
const { rows, truths } = plantOrganisation(4, STEPS)
/** Projects that share some of the scopes of others, but not the same of each kind. */
const mixed = (project: string, repository: number, pipelines: readonly number[], board: number): TableRow[] => [
  projectMapping.row({ project_name: project, table: 'repos', row_id: `plant:Repo:${repository}:0` }),
  projectMapping.row({ project_name: project, table: 'boards', row_id: `plant:Board:${board}` }),
  ...pipelines.map((each) =>
    projectMapping.row({ project_name: project, table: 'cicd_scopes', row_id: `plant:Scope:${each}` }),
  ),
]
const MIXED = ['mixed a', 'mixed b'] as const
const projects = [...truths.map(({ project }) => project), ...MIXED]
const everything = { from: new Date(START - 10 * DAY), to: new Date(START + (STEPS + 10) * DAY) }

const wholeFor = (policies: ReadonlyMap<string, Policy>, range = everything): Whole => {
  const shared = { environment: 'PRODUCTION', ...range }
  return wholeOfParts(
    shared,
    [...policies].map(([project, policy]) => ({ ...shared, project, policy })),
  )
}

/** The rule by which one of the rows of an item is kept, said a second time. */
function byStanding(one: Item, other: Item): number {
  const standing = ({ reason }: Item) => (reason === 'same_rollout' ? 0 : reason === null ? 1 : 2)
  const time = ({ at }: Item) => at?.getTime() ?? Number.POSITIVE_INFINITY
  if (standing(one) !== standing(other)) return standing(one) - standing(other)
  if (time(one) !== time(other)) return time(one) - time(other)
  return (other.value ?? Number.NEGATIVE_INFINITY) - (one.value ?? Number.NEGATIVE_INFINITY)
}

function together(lists: readonly Item[][]): Item[] {
  const known = new Map<string, Item>()
  for (const item of lists.flat()) {
    const key = `${item.kind} ${item.id}`
    const before = known.get(key)
    if (!before || byStanding(item, before) < 0) known.set(key, item)
  }
  return [...known.values()]
}

function summaryOf({ summary }: Metric, kept: readonly Item[], range: typeof everything): number | null {
  const values = kept.map(({ value }) => Number(value))
  const sum = values.reduce((one, other) => one + other, 0)
  const deployments = kept.filter(({ kind }) => kind === 'deployment').length
  if (summary === 'median') return lowerMedian(values)
  if (summary === 'mean') return values.length === 0 ? null : sum / values.length
  if (summary === 'ratio') return deployments === 0 ? null : sum / deployments
  if (summary === 'count') return values.length
  const days = new Set(kept.map(({ at }) => Math.floor((at as Date).getTime() / DAY) * DAY))
  return frequencyOf(days, range).weekly
}

describeEachDatabase('several projects read as one', (test) => {
  beforeAll(async () => {
    await migrate(test.database, allTables)
    await write(test.database, [...rows, ...mixed(MIXED[0], 1, [1, 2], 2), ...mixed(MIXED[1], 3, [0], 3)])
    for (const project of projects) await calculate(test.database, project)
  })
  const all = { reason: undefined, limit: 100_000, offset: 0 }

  it('have the items of all, each once, and every number is that of these items', async () => {
    const day = fc.integer({ min: -5, max: STEPS + 5 })
    const policy = fc.constantFrom(DEFAULT_POLICY, ...POLICIES.map((each) => each.policy))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...metrics),
        fc.uniqueArray(fc.tuple(fc.constantFrom(...projects), policy), {
          selector: ([project]) => project,
          minLength: 1,
        }),
        fc.tuple(day, day),
        fc.boolean(),
        async (metric, chosen, [one, other], isExplained) => {
          const from = new Date(START + Math.min(one, other) * DAY)
          const to = new Date(START + Math.max(one, other) * DAY)
          const whole = wholeFor(new Map(chosen), { from, to })
          const lists = await Promise.all(whole.parts.map((part) => readItems(test.database, metric, part, all)))
          const expected = together(lists)
          const items = await readItems(test.database, metric, whole, all)
          const told = ({ kind, id, at, value, reason }: Item) => `${kind} ${id} ${at?.getTime()} ${value} ${reason}`
          expect(items.map(told).toSorted()).toEqual(expected.map(told).toSorted())
          expect(await countItems(test.database, metric, whole, undefined)).toBe(items.length)

          const read = await readMetric(test.database, metric, whole, isExplained)
          const kept = expected.filter(({ reason }) => reason === null)
          expect([read.counted, read.total]).toEqual([kept.length, expected.length])
          const value = summaryOf(metricOf(metric, whole), kept, { from, to })
          const isEmpty = kept.length === 0 && !(metric.summary === 'count' && expected.length > 0)
          if (isEmpty || value === null) expect(read.value).toBeNull()
          else expect(read.value).toBeCloseTo(value, 9)
          const [points = []] = await readManySeries(test.database, metric, [whole], 'week')
          // Incidents that were created before the range belong to no bucket of it.
          const isPlaced = ({ at }: Item) => metric.name !== 'incident-age' || Number(at) >= Number(points[0]?.start)
          const inBuckets = kept.filter(isPlaced).length
          expect(points.reduce((sum, { counted }) => sum + counted, 0)).toBe(inBuckets)
          if (metric.unit === 'share') {
            const against = kept.filter((each) => each.value === (metric.better === 'lower' ? 1 : 0)).length
            expect(await countAgainst(test.database, metric, whole)).toBe(against)
          }
        },
      ),
      { numRuns: RUNS, seed: 11 },
    )
  })

  it('a whole of one project is that project, and a project and its twin count as one', async () => {
    for (const name of ['change-lead-time', 'change-failure-rate', 'deployment-frequency', 'rework-rate']) {
      const metric = metricNamed(name)
      const part: MetricFilter = {
        project: 'project 0',
        environment: 'PRODUCTION',
        policy: DEFAULT_POLICY,
        ...everything,
      }
      const own = await readMetric(test.database, metric, part, true)
      const alone = wholeFor(new Map([['project 0', DEFAULT_POLICY]]))
      const twins = wholeFor(new Map(['project 0', 'sharing'].map((project) => [project, DEFAULT_POLICY])))
      expect(await readMetrics(test.database, metric, [alone, twins, part], true)).toEqual([own, own, own])
    }
  })

  it('a whole without a project has no value, and says so', async () => {
    for (const metric of metrics) {
      expect(await readMetric(test.database, metric, wholeFor(new Map()), true)).toMatchObject({
        value: null,
        counted: 0,
        total: 0,
      })
    }
  })
})
