import { SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer, HeavyItem } from '../api/description.ts'
import { dayText } from '../dashboards/cells.ts'
import { count, duration } from '../parts/words.ts'

const place = getRouteApi('/answer')
const LEAD_TIME = 'change-lead-time'

const SORTS = {
  heaviest: () => 0,
  title: (one: HeavyItem, other: HeavyItem) => one.title.localeCompare(other.title),
  repository: (one: HeavyItem, other: HeavyItem) => (one.repository ?? '').localeCompare(other.repository ?? ''),
  newest: (one: HeavyItem, other: HeavyItem) => (other.at ?? '').localeCompare(one.at ?? ''),
  size: (one: HeavyItem, other: HeavyItem) => (other.size ?? 0) - (one.size ?? 0),
}
type Sort = keyof typeof SORTS

/** The items that weigh most, for one of the five keys. */
export function Look({ answer: { look, keys } }: { readonly answer: Answer }) {
  const { look: chosen = LEAD_TIME } = place.useSearch()
  const navigate = place.useNavigate()
  const [sort, setSort] = useState<Sort>('heaviest')
  const shown = look.find(({ metric }) => metric === chosen) ?? look[0]
  if (!shown) return null
  const title = (metric: string) => keys.find((key) => key.metric === metric)?.title ?? metric
  const items = shown.heaviest.toSorted(SORTS[sort])
  const hasStages = items.some(({ stages }) => stages.length > 0)
  const longest = Math.max(...items.map(({ value }) => value ?? 0), 1)
  const head = (by: Sort, label: string, className?: string) => (
    <th className={className} aria-sort={sort === by ? 'descending' : undefined}>
      <button type="button" className="sort" onClick={() => setSort(sort === by ? 'heaviest' : by)}>
        {label}
      </button>
    </th>
  )
  return (
    <article className="card">
      <SegmentedControl
        aria-label="Items of"
        className="look-at"
        data={look.map(({ metric }) => ({ value: metric, label: title(metric) }))}
        value={shown.metric}
        onChange={(value) => void navigate({ search: (now) => ({ ...now, look: value }), resetScroll: false })}
      />
      {items.length === 0 ? (
        <p className="quiet">There is none in this range.</p>
      ) : (
        <div className="across">
          <table className="plain items">
            <thead>
              <tr>
                {head('title', shown.metric === LEAD_TIME ? 'Change' : 'What')}
                {head('repository', 'Repository', 'wide')}
                {head('newest', 'When', 'right wide')}
                {hasStages && <th className="wide">Stages, on one scale</th>}
                {head('size', 'Lines', 'right wide')}
                {head('heaviest', title(shown.metric), 'right')}
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <Line key={`${item.kind} ${item.id}`} item={item} hasStages={hasStages} longest={longest} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="more">
        <span>
          {count(items.length)} of {count(shown.of)}
          {shown.withoutInWords && `. Without ${items.length === 1 ? 'it' : 'them'}: ${shown.withoutInWords}.`}
        </span>
        <button
          type="button"
          className="open-number accent"
          onClick={() => void navigate({ search: (now) => ({ ...now, items: shown.metric }), resetScroll: false })}
        >
          Show all
        </button>
      </p>
    </article>
  )
}

interface LineProps {
  readonly item: HeavyItem
  readonly hasStages: boolean
  readonly longest: number
}

function Line({ item, hasStages, longest }: LineProps) {
  const { title, url, repository, at, until, value, inWords, stages, why, size } = item
  return (
    <tr>
      <td className="title">
        {url ? (
          <a href={url} target="_blank" rel="noreferrer">
            <bdi>{title}</bdi>
          </a>
        ) : (
          <bdi>{title}</bdi>
        )}
        {why && <span className="sub">{why}</span>}
      </td>
      <td className="wide quiet">{repository && <bdi>{repository}</bdi>}</td>
      <td className="right wide quiet">
        {at && dayText(at)}
        {until && ` – ${dayText(until)}`}
      </td>
      {hasStages && (
        <td className="bar wide">
          <div className="stage-bar thin" style={{ width: `${((value ?? 0) / longest) * 100}%` }}>
            {stages.map(({ stage, minutes }) => (
              <i
                key={stage}
                className={stage}
                style={{ flex: `${minutes ?? 0} 1 0` }}
                title={`${stage}: ${minutes === null ? 'not known' : duration(minutes)}`}
              />
            ))}
          </div>
        </td>
      )}
      <td className="right wide quiet">{size === null ? '' : count(size)}</td>
      <td className="right">
        <b>{inWords}</b>
      </td>
    </tr>
  )
}
