/** Components that all pages use. */
import { Button, Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Refused } from '../api/ask.ts'
import { exactly, when } from './words.ts'

interface PageProps {
  readonly title: ReactNode
  /** The question that the page answers, in one sentence. */
  readonly says: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Page({ title, says, actions, children }: PageProps) {
  useEffect(() => {
    if (typeof title === 'string') document.title = `${title} · Weir`
  }, [title])
  return (
    <>
      <header className="head">
        <div style={{ minWidth: 0 }}>
          <h1 className="cut" title={typeof title === 'string' ? title : undefined}>
            {title}
          </h1>
          <p>{says}</p>
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export function Moment({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span className="faint">never</span>
  return (
    <time dateTime={at} title={exactly(at)} className="number">
      {when(at)}
    </time>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Instead of an empty box: why there is nothing, and what to do about it. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </section>
  )
}

export function Failure({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  const isGone = error instanceof Refused && error.status === 404
  return (
    <section className="card" role="alert" style={{ borderColor: 'var(--bad)' }}>
      <h2 style={{ marginBottom: 6 }}>{isGone ? 'This no longer exists' : 'This could not be shown'}</h2>
      <p className="quiet" style={{ marginBottom: again ? 12 : 0 }}>
        {error.message}
      </p>
      {again && (
        <Button variant="default" onClick={again}>
          Try again
        </Button>
      )}
    </section>
  )
}

interface AskedProps<Data> {
  readonly of: UseQueryResult<Data, Error>
  readonly children: (data: Data) => ReactNode
  /** Lines of the skeleton. */
  readonly lines?: number
}

/** Shows an answer, or the state of its request. While it is asked again, the previous answer stays. */
export function Asked<Data>({ of, children, lines = 4 }: AskedProps<Data>) {
  if (of.data !== undefined) return <>{children(of.data)}</>
  if (of.isError) return <Failure error={of.error} again={() => void of.refetch()} />
  return <Waiting lines={lines} />
}

/** Shows nothing at first, so that there is no flicker if the data comes soon. */
export function Waiting({ lines }: { readonly lines: number }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 150)
    return () => clearTimeout(timer)
  }, [])
  if (!isLong) return null
  return (
    <div role="status" aria-busy="true" aria-label="Loading" style={{ display: 'grid', gap: 12 }}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a skeleton are all alike
        <Skeleton key={line} height={line === 0 ? 96 : 32} radius={8} />
      ))}
    </div>
  )
}

const BANDS = ['low', 'medium', 'high', 'elite'] as const

/** A word with a bar of four steps, so that it can be read without colour. */
export function Band({ band }: { readonly band: (typeof BANDS)[number] }) {
  const steps = BANDS.indexOf(band) + 1
  return (
    <span className="band">
      <i aria-hidden>
        {BANDS.map((each, index) => (
          <b key={each} className={index < steps ? 'on' : ''} />
        ))}
      </i>
      {band[0]?.toUpperCase() + band.slice(1)}
    </span>
  )
}

const STATES: Readonly<Record<string, readonly [word: string, look: string]>> = {
  TASK_CREATED: ['waiting', ''],
  TASK_RERUN: ['waiting', ''],
  TASK_RESUME: ['waiting', ''],
  TASK_RUNNING: ['running', 'accent'],
  TASK_COMPLETED: ['done', 'good'],
  TASK_PARTIAL: ['partly done', 'attention'],
  TASK_FAILED: ['failed', 'bad'],
  TASK_CANCELLED: ['cancelled', ''],
}

export function State({ of }: { readonly of: string }) {
  const [word, look] = STATES[of] ?? [of, '']
  return <span className={`tag ${look}`}>{word}</span>
}

export const isUnfinished = (status: string): boolean =>
  ['TASK_CREATED', 'TASK_RERUN', 'TASK_RESUME', 'TASK_RUNNING'].includes(status)
