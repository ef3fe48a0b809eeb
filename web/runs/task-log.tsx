import { Switch, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Task } from '../api/description.ts'
import { followLog } from '../api/streams.ts'
import { isUnfinished } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'

const place = getRouteApi('/runs/$id')
/** Older lines are dropped, so that a page that stays open does not grow. */
const MOST_LINES = 20_000
const LONGEST_LINE = 2_000
const DRAW_MS = 250
const AGAIN_MS = 3_000
const LINE_HEIGHT = 20

interface Log {
  readonly lines: readonly string[]
  /** Number of dropped lines before the first one. */
  readonly dropped: number
}
const EMPTY: Log = { lines: [], dropped: 0 }

/** Reads the log from its beginning, and then each new line. Starts again after the server was away. */
function useLog({ id, status }: Task): { readonly log: Log; readonly isAway: boolean } {
  const [log, setLog] = useState<Log>(EMPTY)
  const [isAway, setAway] = useState(false)
  const isGoing = isUnfinished(status)
  useEffect(() => {
    const stop = new AbortController()
    let lines: string[] = []
    let dropped = 0
    let drawing: ReturnType<typeof setTimeout> | undefined
    const draw = () => {
      drawing = undefined
      setLog({ lines: [...lines], dropped })
    }
    async function read(): Promise<void> {
      lines = []
      dropped = 0
      for await (const piece of followLog(id, stop.signal)) {
        setAway(false)
        for (const line of piece) lines.push(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line)
        if (lines.length > MOST_LINES) dropped += lines.splice(0, lines.length - MOST_LINES).length
        drawing ??= setTimeout(draw, DRAW_MS)
      }
    }
    async function readOn(): Promise<void> {
      while (!stop.signal.aborted) {
        const isRead = await read().then(
          () => true,
          () => false,
        )
        if (stop.signal.aborted || (isRead && !isGoing)) return
        setAway(!isRead)
        await new Promise((wait) => setTimeout(wait, AGAIN_MS))
      }
    }
    void readOn()
    return () => {
      clearTimeout(drawing)
      stop.abort()
    }
  }, [id, isGoing])
  return { log, isAway }
}

export function TaskLog({ task }: { readonly task: Task }) {
  const { find = '' } = place.useSearch()
  const { log, isAway } = useLog(task)
  const [words, setWords] = useState(find)
  const [settled] = useDebouncedValue(words, 300)
  const [isFollowed, setFollowed] = useState(isUnfinished(task.status))
  const navigate = place.useNavigate()
  useEffect(() => {
    if (settled === find) return
    void navigate({
      search: ({ find: _before, ...rest }) => (settled ? { ...rest, find: settled } : rest),
      replace: true,
    })
  }, [settled, find, navigate])
  const found = useMemo(() => {
    const wanted = words.toLowerCase()
    return wanted === '' ? log.lines : log.lines.filter((line) => line.toLowerCase().includes(wanted))
  }, [log, words])
  return (
    <article className="card">
      <div className="row" style={{ flexWrap: 'wrap', alignItems: 'center' }}>
        <h3>Log</h3>
        <div className="actions">
          <TextInput
            size="xs"
            aria-label="Find in the log"
            placeholder="Find in the log"
            value={words}
            maxLength={200}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <Switch
            size="sm"
            label="Follow"
            checked={isFollowed}
            onChange={({ currentTarget }) => setFollowed(currentTarget.checked)}
          />
        </div>
      </div>
      <p className="small quiet number" role="status" style={{ margin: '6px 0 8px' }}>
        {isAway
          ? 'The log does not come in: the server may be starting again. It is asked for once more.'
          : words
            ? `${count(found.length)} of ${counted(log.lines.length, 'line')} have “${words}”.`
            : log.dropped > 0
              ? `The last ${counted(log.lines.length, 'line')}; ${count(log.dropped)} before them are in the download.`
              : counted(log.lines.length, 'line')}
      </p>
      <Lines lines={found} isFollowed={isFollowed} onScrollUp={() => setFollowed(false)} />
      {log.lines.length === 0 && !isUnfinished(task.status) && (
        <p className="small quiet">
          Nothing is stored here. Logs lie on the server that ran the task, and are deleted after a while.
        </p>
      )}
    </article>
  )
}

interface LinesProps {
  readonly lines: readonly string[]
  readonly isFollowed: boolean
  readonly onScrollUp: () => void
}

/** Only visible lines are drawn. */
function Lines({ lines, isFollowed, onScrollUp }: LinesProps) {
  const scroller = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  })
  useEffect(() => {
    if (isFollowed && lines.length > 0) virtual.scrollToIndex(lines.length - 1)
  }, [isFollowed, lines, virtual])
  if (lines.length === 0) return null
  return (
    <section
      className="log"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
      tabIndex={0}
      aria-label="Lines of the log"
      onWheel={({ deltaY }) => deltaY < 0 && onScrollUp()}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <Line key={index} text={lines[index] ?? ''} top={start} />
        ))}
      </div>
    </section>
  )
}

const STAMP = /^\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)\.\d+Z (.*)$/s

function Line({ text, top }: { readonly text: string; readonly top: number }) {
  const [, time, rest] = STAMP.exec(text) ?? []
  const isBad = /\bfailed\b|\berror\b/i.test(text)
  return (
    <div
      className={isBad ? 'bad' : ''}
      style={{ position: 'absolute', top: 0, transform: `translateY(${top}px)` }}
      title={text}
    >
      {time ? <span className="faint">{time} </span> : null}
      {rest ?? text}
    </div>
  )
}
