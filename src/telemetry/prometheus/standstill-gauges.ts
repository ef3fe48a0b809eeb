/** Shows whether the collection stands still, and the facts behind that; known also while the database is away. */
import { Gauge, type Registry } from 'prom-client'
import { CAUSES } from '../../runner/standstill/causes.ts'
import { CAUSE_NAMES } from '../../runner/standstill/standing.ts'
import type { Snapshot } from '../../runner/standstill/standstill.ts'

export function standstillGauges(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const attention = gauge('weir_attention', '1: the collection stands still for this cause, or soon will.', [
    'cause',
    'severity',
  ])
  const servers = gauge('weir_servers', 'Servers and workers, alive or dead.', ['kind', 'state'])
  const free = gauge('weir_disk_free_bytes', 'Free on the disk of the data folder of this process.')
  const size = gauge('weir_disk_size_bytes', 'The size of the disk of the data folder of this process.')
  const clock = gauge('weir_clock_offset_seconds', 'The clock of this process less that of the database.')
  const statement = gauge('weir_database_statement_seconds', 'How long the database took for a short statement.')
  const writable = gauge(
    'weir_database_writable',
    '1: the database accepts changes. 0: it does not, or does not answer.',
  )
  /** An unknown value is left out: without a value the gauge would be 0. */
  const setKnown = (each: Gauge, value: number | undefined) => (value === undefined ? each.remove() : each.set(value))

  return {
    set({ facts: { disk, database, queue }, standing }: Snapshot): void {
      for (const cause of CAUSE_NAMES) {
        for (const severity of CAUSES[cause].severities) {
          const isSo = standing.some((each) => each.cause === cause && each.severity === severity)
          attention.set({ cause, severity }, isSo ? 1 : 0)
        }
      }
      servers.reset()
      for (const kind of ['server', 'worker'] as const) {
        for (const state of ['alive', 'dead'] as const) {
          const count = queue?.members.filter(
            (each) => each.kind === kind && each.isAlive === (state === 'alive'),
          ).length
          if (count !== undefined) servers.set({ kind, state }, count)
        }
      }
      setKnown(free, disk?.freeBytes)
      setKnown(size, disk?.sizeBytes)
      setKnown(clock, database.clockOffsetSeconds)
      setKnown(statement, database.statementSeconds)
      writable.set(database.statementSeconds !== undefined && database.refusesChanges === '' ? 1 : 0)
    },
  }
}
