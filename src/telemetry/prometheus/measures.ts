/** The measures that Prometheus reads at `/metrics`. No label holds a secret, or a value that somebody sent. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Standstill } from '../../runner/standstill/standstill.ts'
import { followWork, type WorkEvent } from '../events/work-events.ts'
import { type DatabaseMeasures, type DatabaseReader, readDatabase } from './database-measures.ts'
import { standstillGauges } from './standstill-gauges.ts'

interface AnsweredRequest {
  readonly method: string
  /** The route as it was declared, such as `/projects/:projectName`. */
  readonly route: string
  readonly status: number
  readonly seconds: number
}

export interface Measures {
  readonly contentType: string
  countRequest(request: AnsweredRequest): void
  /** All measures, as text. */
  read(): Promise<string>
  /** Stops counting tasks. */
  close(): void
}

interface MeasuresContext extends DatabaseReader {
  readonly version: string
  readonly standstill: Standstill
}

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 30]
const TASK_BUCKETS = [1, 5, 15, 60, 300, 900, 3600, 14_400]

export function createMeasures(context: MeasuresContext): Measures {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'weir_http_request_duration_seconds',
    help: 'Requests to this server, and how long their answers took.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  new Gauge({ name: 'weir_build_info', help: 'The version of Weir.', labelNames: ['version'], registers }).set(
    { version: context.version },
    1,
  )
  const stop = followWork(countWork(registers))
  const gauges = databaseGauges(registers)
  const standing = standstillGauges(registers)
  let hasDefaults = false
  return {
    contentType: registry.contentType,
    countRequest({ seconds, ...labels }) {
      requests.observe({ ...labels, status: String(labels.status) }, seconds)
    },
    async read() {
      // This watches the event loop and the memory from now on, so it begins only with the first read.
      if (!hasDefaults) collectDefaultMetrics({ register: registry })
      hasDefaults = true
      const [snapshot, read] = await Promise.all([context.standstill.latest(), readDatabase(context)])
      standing.set(snapshot)
      gauges.set(context.database.connections(), read)
      return registry.metrics()
    },
    close: stop,
  }
}

type Registers = Registry[]

function countWork(registers: Registers): (event: WorkEvent) => void {
  const tasks = new Histogram({
    name: 'weir_task_duration_seconds',
    help: 'Tasks that ended in this process, and how long they took.',
    labelNames: ['plugin', 'status'],
    buckets: TASK_BUCKETS,
    registers,
  })
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['plugin', 'subtask'], registers })
  const seconds = counter('weir_subtask_seconds_total', 'How long subtasks of this process took together.')
  const records = counter('weir_records_read_total', 'Records that subtasks of this process have read.')
  const rows = counter('weir_rows_written_total', 'Rows that subtasks of this process have written.')
  const rejected = counter('weir_records_rejected_total', 'Records that went to the quarantine.')
  const sent = new Histogram({
    name: 'weir_source_request_duration_seconds',
    help: 'Requests to sources, and how long their answers took. Status 0: no answer came.',
    labelNames: ['connection', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const received = new Counter({
    name: 'weir_source_received_bytes_total',
    help: 'Bytes that sources have sent.',
    labelNames: ['connection'],
    registers,
  })
  return (event) => {
    if (event.kind === 'task') tasks.observe({ plugin: event.plugin, status: event.status }, event.seconds)
    if (event.kind === 'source request') {
      sent.observe({ connection: event.connection, status: String(event.status) }, event.seconds)
      received.inc({ connection: event.connection }, event.bytes)
    }
    if (event.kind !== 'subtask') return
    const labels = { plugin: event.plugin, subtask: event.subtask }
    seconds.inc(labels, event.seconds)
    records.inc(labels, event.records)
    rows.inc(labels, event.rows)
    rejected.inc(labels, event.quarantined)
  }
}

const UNLABELLED = ['oldest']

/** Gauges for what the database knows; they are the same on every server of that database. */
function databaseGauges(registers: Registers) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const pool = gauge('weir_database_connections', 'Connections of this server to the database.', ['state'])
  const up = gauge('weir_database_up', '1: the database answers. 0: what it knows is left out.')
  const all: Readonly<Record<keyof DatabaseMeasures, Gauge>> = {
    pipelines: gauge('weir_pipelines', 'Pipelines that wait or run.', ['state']),
    oldest: gauge('weir_queue_oldest_seconds', 'How long the oldest pipeline has waited of which no task has begun.'),
    tasks: gauge('weir_tasks', 'Tasks of these pipelines, by state.', ['status']),
    budget: gauge('weir_connection_requests_left', 'What the source still allowed when it last said so.', [
      'plugin',
      'connection',
    ]),
    working: gauge('weir_connection_up', '1: the connection worked when it was last used. 0: it failed.', [
      'plugin',
      'connection',
    ]),
    gaps: gauge('weir_gaps', 'Lists that collections did not get whole.', ['plugin', 'kind']),
    quarantine: gauge('weir_quarantined_records', 'Records that could not be used.', ['plugin']),
    completed: gauge('weir_project_last_success_timestamp_seconds', 'When the last run of a project completed.', [
      'project',
    ]),
    created: gauge('weir_project_created_timestamp_seconds', 'When a project was made.', ['project']),
    storage: gauge('weir_storage_bytes', 'What the tables take on disk, with their indexes.', ['layer']),
  }
  return {
    set(connections: { open: number; idle: number; waiting: number }, read: DatabaseMeasures | undefined) {
      for (const [state, count] of Object.entries(connections)) pool.set({ state }, count)
      up.set(read ? 1 : 0)
      for (const [name, each] of Object.entries(all)) {
        each.reset()
        // A gauge without labels would be 0 then, although its value is not known.
        if (!read && UNLABELLED.includes(name)) each.remove()
        for (const { labels, value } of read?.[name as keyof DatabaseMeasures] ?? []) each.set(labels, value)
      }
    },
  }
}
