import { TextInput } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { FoundPath } from '../api/description.ts'
import { count, counted } from '../parts/words.ts'

const HEIGHT = 64

interface PathListProps {
  /** Number of records in the sample. */
  readonly records: number
  readonly paths: readonly FoundPath[]
  readonly chosen: string | undefined
  readonly choose: (path: string) => void
}

/** Values of sample records, for the user to choose by clicking. */
export function PathList({ records, paths, chosen, choose }: PathListProps) {
  const [words, setWords] = useState('')
  const scroller = useRef<HTMLDivElement>(null)
  const fitting = useMemo(() => {
    const wanted = words.trim().toLowerCase()
    const has = ({ path, title, samples }: FoundPath) =>
      [path, title, ...samples].some((text) => text.toLowerCase().includes(wanted))
    return wanted === '' ? paths : paths.filter(has)
  }, [paths, words])
  const virtual = useVirtualizer({
    count: fitting.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
  })
  const position = fitting.findIndex(({ path }) => path === chosen)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only once: later the reader scrolls.
  useEffect(() => {
    if (position >= 0) virtual.scrollToIndex(position, { align: 'center' })
  }, [])
  return (
    <section className="card" style={{ minWidth: 0 }}>
      <div className="row" style={{ alignItems: 'center' }}>
        <h2>Values of the records</h2>
        <span className="small quiet number">
          {counted(paths.length, 'value')} in the newest {counted(records, 'record')}
        </span>
      </div>
      <TextInput
        mt={12}
        aria-label="Find a value"
        placeholder="Find by name, path or value"
        value={words}
        maxLength={200}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
      />
      {fitting.length === 0 && (
        <p className="quiet" style={{ marginTop: 16 }}>
          {paths.length === 0 ? 'The records hold no values.' : 'No value matches.'}
        </p>
      )}
      <div className="paths" ref={scroller}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const found = fitting[index] as FoundPath
            return (
              <div
                key={found.path}
                style={{ position: 'absolute', insetInline: 0, top: 0, transform: `translateY(${start}px)` }}
              >
                <Path found={found} records={records} isChosen={found.path === chosen} choose={choose} />
              </div>
            )
          })}
        </div>
      </div>
    </section>
  )
}

interface PathProps {
  readonly found: FoundPath
  readonly records: number
  readonly isChosen: boolean
  readonly choose: (path: string) => void
}

function Path({ found: { path, title, count: has, types, samples }, records, isChosen, choose }: PathProps) {
  return (
    <button type="button" className="path" aria-pressed={isChosen} onClick={() => choose(path)} title={path}>
      <span className="cut">
        {title && <b style={{ fontWeight: 500 }}>{title} </b>}
        <span className={`mono ${title ? 'quiet' : ''}`}>{path}</span>
      </span>
      <span className="small quiet number">
        {has === records ? 'all' : `${count(has)} of ${count(records)}`} · {types.join(', ')}
      </span>
      <span className="small quiet cut" dir="auto" style={{ gridColumn: '1 / 3' }}>
        {samples.join(' · ')}
      </span>
    </button>
  )
}
