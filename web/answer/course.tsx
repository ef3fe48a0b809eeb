import { useElementSize } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import type { Answer } from '../api/description.ts'
import { dayText, monthText } from '../dashboards/cells.ts'
import { duration } from '../parts/words.ts'
import { Lanes } from './lanes.tsx'
import { spansOf, wordsOf } from './time-scale.ts'

const place = getRouteApi('/answer')
const CLICK_PIXELS = 6
const LEFT = 116
const RIGHT = 16
/** Below this width, lanes have no labels at their side. */
const NARROW = 560

/** Cause and effect on one axis of time: lead time, deployments, incidents. Drag to choose a range, click for the items of a part. */
export function Course({ answer }: { readonly answer: Answer }) {
  const navigate = place.useNavigate()
  const { ref, width } = useElementSize<HTMLDivElement>()
  const [near, setNear] = useState<number>()
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number }>()
  const left = width < NARROW ? 0 : LEFT
  const right = width < NARROW ? 0 : RIGHT
  const [from, to] = [Date.parse(answer.range.from), Date.parse(answer.range.to)]
  const x = (time: number) => left + ((time - from) / (to - from)) * (width - left - right)
  const timeAt = (pixels: number) =>
    Math.min(to, Math.max(from, from + ((pixels - left) / (width - left - right)) * (to - from)))
  const spans = spansOf(answer)
  const bucketAt = (pixels: number) =>
    spans.findIndex(([start, end]) => timeAt(pixels) >= start && timeAt(pixels) < end)
  const open = (bucket: number) => {
    const span = spans[bucket]
    if (!span) return
    const [since, until] = [new Date(span[0]).toISOString(), new Date(span[1] - 1).toISOString()]
    void navigate({
      search: (now) => ({ ...now, items: now.look ?? 'change-lead-time', since, until }),
      resetScroll: false,
    })
  }
  const at = (event: PointerEvent) => event.clientX - event.currentTarget.getBoundingClientRect().left
  const finish = (event: PointerEvent) => {
    const [start, end] = [drag?.start ?? at(event), at(event)]
    setDrag(undefined)
    if (Math.abs(end - start) < CLICK_PIXELS) return open(bucketAt(end))
    const [first, last] = [Math.min(start, end), Math.max(start, end)]
    const range = { from: new Date(timeAt(first)).toISOString(), to: new Date(timeAt(last)).toISOString() }
    void navigate({ search: ({ months: _, ...now }) => ({ ...now, ...range }), resetScroll: false })
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step) setNear(Math.min(spans.length - 1, Math.max(0, (near ?? (step > 0 ? -1 : spans.length)) + step)))
    else if ((event.key === 'Enter' || event.key === ' ') && near !== undefined) open(near)
    else return
    event.preventDefault()
  }
  const span = near === undefined ? undefined : spans[near]
  const bucket = near === undefined ? undefined : answer.when.buckets[near]
  const told = span && bucket && `${dayText(span[0])} – ${dayText(span[1] - 1)}: ${wordsOf(bucket)}`
  return (
    <article className="card course-card">
      <div
        ref={ref}
        className="course"
        role="slider"
        tabIndex={0}
        aria-label="Parts of the range: arrow keys choose one, Enter opens its items"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, spans.length - 1)}
        aria-valuenow={near ?? 0}
        aria-valuetext={told ?? 'none chosen'}
        onKeyDown={onKey}
        onBlur={() => setNear(undefined)}
        onPointerDown={(event) => event.pointerType !== 'touch' && setDrag({ start: at(event), end: at(event) })}
        onPointerMove={(event) => {
          setNear(bucketAt(at(event)))
          if (drag) setDrag({ ...drag, end: at(event) })
        }}
        onPointerUp={finish}
        onPointerLeave={() => {
          setNear(undefined)
          setDrag(undefined)
        }}
      >
        {width > 0 && <Lanes answer={answer} spans={spans} width={width} left={left} right={right} x={x} near={near} />}
        {drag && Math.abs(drag.end - drag.start) >= CLICK_PIXELS && (
          <div
            className="brush"
            aria-hidden="true"
            style={{ left: Math.min(drag.start, drag.end), width: Math.abs(drag.end - drag.start) }}
          />
        )}
      </div>
      <p className="small quiet course-words" aria-live="polite">
        {told ?? summaryOf(answer)}
      </p>
    </article>
  )
}

function summaryOf({ when: { buckets, incidents, isShortened }, range, keys }: Answer): string {
  const known = incidents.flatMap(({ at, until }) => (until ? [(Date.parse(until) - Date.parse(at)) / 60_000] : []))
  const failed = buckets.reduce((all, bucket) => all + bucket.failed, 0)
  const deployments = buckets.reduce((all, bucket) => all + bucket.deployments, 0)
  const open = incidents.length - known.length
  const median = keys.find(({ metric }) => metric === 'change-lead-time')?.now.inWords
  return [
    `${monthText(range.from)} – ${monthText(range.to)}: median lead time ${median ?? 'not known'}`,
    `deployments: ${deployments}, ${failed} of them failed`,
    `incidents: ${incidents.length}${open > 0 ? `, ${open} open` : ''}${
      known.length > 0 ? `, the longest ${duration(Math.max(...known))}` : ''
    }${isShortened ? '; only the newest are drawn' : ''}`,
  ].join('; ')
}
