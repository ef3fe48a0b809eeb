import type { DomainType, Subtask, TaskRun } from './subtask.ts'

interface CalculationSpec {
  readonly name: string
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly domainTypes?: readonly DomainType[]
  /** Runs only if a task names it. */
  readonly isOff?: boolean
}

/** A subtask that works on stored data; `calculate` returns the number of rows it wrote. */
export const calculation = (
  { name, reads, writes, domainTypes = [], isOff = false }: CalculationSpec,
  calculate: (run: TaskRun) => Promise<number>,
): Subtask => ({
  name,
  step: 'calculate',
  reads,
  writes,
  domainTypes,
  isDefault: !isOff,
  async run(run) {
    const rows = await calculate(run)
    run.progress({ done: rows })
    return { records: rows, rows, quarantined: 0 }
  },
})
