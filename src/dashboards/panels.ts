/** Panels that draw metrics. */
import { sql } from 'kysely'
import type { Material, Metric } from '../metrics/metric.ts'
import { summarized } from '../metrics/read/read.ts'
import type { Column, Panel, PanelQuery } from './dashboard.ts'
import { countedItems, hasWords, metricValue, type Narrowing, seriesOf } from './statements.ts'

interface MetricPanel extends Partial<Pick<Panel, 'name' | 'title' | 'width' | 'height' | 'limits' | 'look'>> {
  readonly narrowing?: (query: PanelQuery) => Narrowing
}

export const REMEDIES: Readonly<Record<Metric['madeOf'][number], string>> = {
  deployments:
    'No successful deployment to production is known in this range: collect deployments, and map the environment that is production.',
  incidents: 'No incident is known in this range: collect incidents, and say which issue types are incidents.',
  'pull requests': 'No pull request is known in this range: collect a code host, or choose a longer range.',
  history: 'The history of the repository is not known: let the blueprint collect code.',
  issues: 'No issue is known in this range: collect an issue tracker, or choose a longer range.',
  builds: 'No build is known in this range: collect a build tool, or choose a longer range.',
}
const NEEDED: Readonly<Partial<Record<Material, string>>> = {
  deployments: 'successful deployments to production',
  'pull requests': 'pull requests',
  history: 'the git history of their repositories',
}
/** Several materials may be missing, so a remedy for the first of them would often be wrong. */
const remedyOf = ({ madeOf }: Metric) =>
  madeOf.includes('history')
    ? `Nothing in this range can be counted. It needs all of these: ${madeOf.map((each) => NEEDED[each] ?? each).join(', ')}. The explanation says which is missing.`
    : REMEDIES[madeOf[0] ?? 'deployments']

const shared = (metric: Metric, { narrowing: _, ...own }: MetricPanel) => ({
  title: metric.title,
  definition: metric.definition,
  metric: metric.name,
  better: metric.better,
  remedy: remedyOf(metric),
  ...own,
})

const COUNTED: Column = { title: 'Items', kind: 'count' }
/** The text that is shown in place of a number that would be misleading. */
export const WORDS: Column = { title: 'In words', kind: 'text' }

const countOf = (material: Material): Column => ({
  title: `${material.charAt(0).toUpperCase()}${material.slice(1)}`,
  kind: 'count',
})

export const numberPanel = (metric: Metric, own: MetricPanel = {}): Panel => ({
  name: metric.name,
  look: 'number',
  width: 6,
  height: 5,
  columns: {
    value: { title: metric.title, kind: metric.unit },
    // A ratio shows the two numbers that it divides. Their sum would be mistaken for the divisor.
    ...(metric.divides
      ? Object.fromEntries(metric.divides.map((material): [string, Column] => [material, countOf(material)]))
      : { counted: COUNTED }),
    ...(hasWords(metric) && { words: WORDS }),
  },
  statement: (query) => metricValue(query, metric, own.narrowing?.(query)),
  ...shared(metric, own),
})

export const seriesPanel = (metric: Metric, own: MetricPanel = {}): Panel => ({
  name: `${metric.name}-series`,
  look: metric.summary === 'days' || metric.summary === 'count' ? 'bars' : 'lines',
  columns: {
    time: { title: 'Time', kind: 'day' },
    // A series of days shows how many items happened.
    value: { title: metric.title, kind: metric.summary === 'days' ? 'count' : metric.unit },
    counted: COUNTED,
  },
  statement: (query) => seriesOf(query, metric, own.narrowing?.(query)),
  ...shared(metric, { title: `${metric.title} over time`, ...own }),
})

/** Shows a metric by repository, the largest value first. */
export const repositoriesPanel = (metric: Metric, own: MetricPanel = {}): Panel => ({
  name: `${metric.name}-by-repository`,
  look: 'ranking',
  columns: {
    repository: { title: 'Repository', kind: 'text' },
    value: { title: metric.title, kind: metric.summary === 'days' ? 'count' : metric.unit },
    counted: COUNTED,
  },
  statement: (query) => {
    const items = countedItems(query, metric, own.narrowing?.(query))
    const byRepository = summarized(query.dialect, metric, items, { repository_id: sql`coalesce(repository, '')` })
    return sql`select coalesce(nullif(repos.name, ''), nullif(own.repository_id, ''), 'no repository') as repository, own.value, own.counted
      from (${byRepository}) own left join repos on repos.id = own.repository_id order by own.value desc, repository, own.repository_id limit 50`
  },
  ...shared(metric, { title: `${metric.title} by repository`, ...own }),
})
