/** Several projects that are read as one: a group, all projects, or those in which a team works. */
import type { Database } from '../database/database.ts'
import type { NoData } from './findings/no-data.ts'
import type { Metric, MetricFilter } from './metric.ts'
import { DEFAULT_POLICY, type Policy } from './policy/policy.ts'
import { categoryTable, NO_CATEGORY_FIELD, serviceOf } from './service/service-incidents.ts'
import { FEW_PEOPLE, hasFewPeople } from './teams.ts'

/** Its items are those of all parts. An item of several projects counts once. */
export interface Whole extends Omit<MetricFilter, 'project'> {
  /** One for each project, with its own policy. All else is the same in every part. */
  readonly parts: readonly MetricFilter[]
  /** The policy of all parts, or the default one if they differ. */
  readonly policy: Policy
}

/** One project, or several as one. */
export type Asked = MetricFilter | Whole

export const partsOf = (asked: Asked): readonly MetricFilter[] => ('parts' in asked ? asked.parts : [asked])
export const projectsOf = (asked: Asked): string[] => partsOf(asked).map(({ project }) => project)
export const asWhole = (asked: Asked): Whole => ('parts' in asked ? asked : { ...asked, parts: [asked] })

/** Everything that a filter says apart from its project, as one text. */
const rulesOf = ({ project: _, ...rest }: MetricFilter): string => JSON.stringify(rest)

const hasOnePolicy = (parts: readonly MetricFilter[]): boolean => new Set(parts.map(rulesOf)).size <= 1

/** Makes one of the filters of its projects. `shared` is what they have in common. */
export const wholeOfParts = (
  shared: Omit<MetricFilter, 'project' | 'policy' | 'service'>,
  parts: readonly MetricFilter[],
): Whole => ({
  ...shared,
  parts,
  policy: hasOnePolicy(parts) ? (parts[0]?.policy ?? DEFAULT_POLICY) : DEFAULT_POLICY,
  service: hasOnePolicy(parts) ? parts[0]?.service : undefined,
})

/** Tells whether the parts count by different policies. */
export const isMixed = (asked: Asked): boolean => !hasOnePolicy(partsOf(asked))

/** Filters that differ in nothing but the project, so that one statement reads them together. */
interface Alike {
  readonly filter: MetricFilter
  readonly projects: readonly string[]
}
export const alike = (asked: Asked): Alike[] =>
  [...Map.groupBy(partsOf(asked), rulesOf).values()].map((filters) => ({
    filter: filters[0] as MetricFilter,
    projects: filters.map(({ project }) => project),
  }))

/** Changes the policy of every part. */
export function withPolicy(asked: Asked, change: (own: Policy) => Policy): Asked {
  if (!('parts' in asked)) return { ...asked, policy: change(asked.policy) }
  const parts = asked.parts.map((part) => ({ ...part, policy: change(part.policy) }))
  return { ...asked, parts, policy: change(asked.policy) }
}

/** The metric as the policy of a project counts it. */
export const underPolicy = (metric: Metric, { policy }: Pick<MetricFilter, 'policy'>): Metric =>
  (policy.pairing === 'service-report' && metric.inServiceReport) || metric

/**
 * The metric by which the items of all parts are summarised. If the parts divide different things, what failed in any of them is
 * divided by the deployments of all.
 */
export function metricOf(metric: Metric, asked: Asked): Metric {
  const [first = metric, ...others] = new Set(partsOf(asked).map((part) => underPolicy(metric, part)))
  if (others.length === 0) return first
  return [first, ...others].some(({ summary }) => summary === 'ratio') ? { ...metric, summary: 'ratio' } : metric
}

/** Tells whether, under the policy, the metric is about the incidents of a service. */
const isOfService = (metric: Metric, filter: Pick<MetricFilter, 'policy'>): boolean =>
  underPolicy(metric, filter).isOfService === true

const needsCategory = (metric: Metric, filter: MetricFilter): boolean =>
  isOfService(metric, filter) && serviceOf(filter).categories !== null

/**
 * Leaves out the parts for which the database lacks a column that the metric needs. Null if none is left, or if it is about too
 * few people.
 */
export async function readable(database: Database, metric: Metric, asked: Asked): Promise<Whole | null> {
  const whole = asWhole(asked)
  if (whole.team !== undefined && (await hasFewPeople(database, whole.team))) return null
  if (!whole.parts.some((part) => needsCategory(metric, part))) return whole
  if ((await categoryTable(database)) !== undefined) return whole
  const parts = whole.parts.filter((part) => !needsCategory(metric, part))
  return parts.length === 0 ? null : { ...whole, parts }
}

/** Why nothing of it is readable. */
export const whyUnreadable = async (database: Database, { team }: Pick<Asked, 'team'>): Promise<NoData> =>
  team !== undefined && (await hasFewPeople(database, team)) ? FEW_PEOPLE : NO_CATEGORY_FIELD
