import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import type { MetricItem, Operations } from '../api/description.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { counted, duration } from '../parts/words.ts'
import { type Period, valueText } from '../projects/keys.ts'

type ItemsQuery = NonNullable<Operations['GET /v1/metrics/{metric}/items']['query']>
export type Whose = Pick<ItemsQuery, 'project' | 'group' | 'team' | 'all'>

interface ItemsProps {
  readonly metric: string
  readonly unit: string
  /** Whose items: a project, a team, a group, or all. */
  readonly whose: Whose
  readonly period: Period
  readonly reason: string | undefined
}

const PAGE = 200
const LINE = 60

/** The rows behind a number. There may be very many, so only visible rows are drawn. */
export function Items({ metric, unit, whose, period, reason }: ItemsProps) {
  const items = useInfiniteQuery({
    queryKey: ['GET /v1/metrics/{metric}/items', 'pages', { metric, whose, period, reason }],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...whose, ...period, page: pageParam, pageSize: PAGE }
      return ask(
        'GET /v1/metrics/{metric}/items',
        { path: { metric }, query: { ...query, ...(reason && { reason: reason as 'counted' }) } },
        signal,
      )
    },
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.items.length === PAGE ? pages.length + 1 : undefined),
  })
  return (
    <Asked of={items} lines={6}>
      {({ pages }) => {
        const all = pages.flatMap((page) => page.items)
        if (all.length === 0) return <p className="quiet">There is none in this range.</p>
        const better = pages[0]?.better ?? 'lower'
        return (
          <VirtualList
            items={all}
            label="Items"
            keyOf={({ kind, id }) => `${kind} ${id}`}
            rowHeight={LINE}
            height="50vh"
            more={items.hasNextPage && !items.isFetchingNextPage ? items.fetchNextPage : undefined}
          >
            {(item) => <Item item={item} unit={unit} better={better} />}
          </VirtualList>
        )
      }}
    </Asked>
  )
}

interface ItemProps {
  readonly item: MetricItem
  readonly unit: string
  readonly better: 'higher' | 'lower'
}

function Item({ item, unit, better }: ItemProps) {
  const { kind, table, id, url, at, value, reason, rollout, repositoryName, incidents, deployment, isResolved } = item
  const words = titleOf(item)
  const [incident] = incidents
  return (
    <div className="line">
      <div style={{ flex: 1, minWidth: 0 }}>
        <div className="cut" title={words}>
          {url ? (
            <a href={url} target="_blank" rel="noreferrer">
              <bdi>{words}</bdi>
            </a>
          ) : (
            <bdi>{words}</bdi>
          )}
        </div>
        <div className="small faint cut">
          {kind.replaceAll('_', ' ')}
          {repositoryName && (
            <>
              {' · '}
              <bdi>{repositoryName}</bdi>
            </>
          )}
          {at && (
            <>
              {' · '}
              <Moment at={at} />
            </>
          )}
          {' · '}
          <Link to="/data/record" search={{ table, id }}>
            Data
          </Link>
          {incident && (
            <>
              {' · led to '}
              <Link to="/data/record" search={{ table: incident.table, id: incident.id }} className="bad">
                <bdi>{incident.title}</bdi>
              </Link>
              {incidents.length > 1 && ` and ${counted(incidents.length - 1, 'more incident')}`}
            </>
          )}
          {deployment && (
            <>
              {' · after '}
              <Link to="/data/record" search={{ table: deployment.table, id: deployment.id }}>
                <bdi>{deployment.title}</bdi>
              </Link>
            </>
          )}
          {rollout && <OfRollout rollout={rollout} id={id} />}
        </div>
      </div>
      <span className="number" style={{ whiteSpace: 'nowrap', textAlign: 'right' }}>
        {reason ? <span className="small faint">not counted</span> : amountOf(value, unit, better)}
        {isResolved === false && <div className="small attention">not resolved</div>}
      </span>
    </div>
  )
}

const SHA = /^[0-9a-f]{7,64}$/i
const SHORT = 8

/** Shows the title of the commit before a SHA, which tells people nothing. */
function titleOf({ title, id, commit }: MetricItem): string {
  const words = title || id
  return SHA.test(words) && commit?.title ? `${commit.title} (${words.slice(0, SHORT)})` : words
}

/** Names the other rows about the same rollout, and the one that represents them all. */
function OfRollout({
  rollout: { rows },
  id,
}: {
  readonly rollout: NonNullable<MetricItem['rollout']>
  readonly id: string
}) {
  const own = rows.find((row) => row.id === id)
  const others = rows.filter((row) => row.id !== id && (own?.stands || row.stands))
  const names = others.map(({ title, source }) => `${title} (${source})`).join(', ')
  return (
    <span title={own?.why}>
      {' · '}
      {own?.stands ? 'stands for ' : 'the same rollout as '}
      <bdi>{names}</bdi>
    </span>
  )
}

function amountOf(value: number | null, unit: string, better: ItemProps['better']): string {
  if (value === null || unit === 'count' || unit === 'days per week') return ''
  if (unit === 'minutes') return duration(value)
  if (unit === 'seconds') return duration(value / 60)
  // For a share, one of the two kinds of items makes the value worse.
  if (unit === 'share') return value > 0 === (better === 'lower') ? 'counts against' : ''
  return valueText(value, unit)
}
