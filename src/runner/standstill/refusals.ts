/** Tracks tasks of this process whose source refuses every request, from the events of their threads. */
import { followWork, type WorkPlace } from '../../telemetry/events/work-events.ts'

export interface Refusal {
  readonly run: number
  readonly task: number
  readonly connection: string
  /** The status of the last answer; 0 when none came. */
  readonly status: number
  readonly requests: number
  readonly seconds: number
}

/** Other errors concern single records, and are not refusals by the source. */
const REFUSING = new Set([0, 401, 403, 407, 408, 425, 429])
const isRefusal = (status: number) => REFUSING.has(status) || status >= 500

interface Refusals {
  now(): readonly Refusal[]
  /** Forgets all other tasks, which have ended without an event. */
  keep(tasks: ReadonlySet<number>): void
  stop(): void
}

export function followRefusals(): Refusals {
  const refused = new Map<number, Omit<Refusal, 'seconds'> & { readonly since: number }>()
  const stop = followWork((event) => {
    if (event.kind === 'task' && event.place?.task !== undefined) refused.delete(event.place.task)
    if (event.kind !== 'source request' || event.place?.task === undefined) return
    const { pipeline: run, task } = event.place as WorkPlace & { task: number }
    if (!isRefusal(event.status)) return void refused.delete(task)
    const { since = performance.now(), requests = 0 } = refused.get(task) ?? {}
    const { connection, status } = event
    refused.set(task, { run, task, connection, status, requests: requests + 1, since })
  })
  return {
    now: () =>
      [...refused.values()].map(({ since, ...rest }) => ({ ...rest, seconds: (performance.now() - since) / 1000 })),
    keep(tasks) {
      for (const task of refused.keys()) if (!tasks.has(task)) refused.delete(task)
    },
    stop,
  }
}
