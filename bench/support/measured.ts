/** Runs a benchmark in a process of its own and reads what it prints. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Benchmark, Bound } from '../list.ts'

export interface Measured {
  readonly seconds: number
  /** The time of all its processes, the database servers too. Undefined if the system does not tell it. */
  readonly processorSeconds: number | undefined
  /** The ratio of each figure that it printed. */
  readonly ratios: ReadonlyMap<string, number>
}

const FIGURE = /^([^:]+): .*\(ratio ([\d.]+)/gm
/** A clock tick of Linux, as all its systems tell it to programs. */
const TICKS_PER_SECOND = 100

/** Seconds that processes have used which we started and which have ended, with those that they started. */
function processorSeconds(): number | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name of the program, in brackets, may hold spaces. Of what follows, the 14th and 15th are the times of children.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

export const titleOf = (benchmark: Benchmark): string => [benchmark.name, ...(benchmark.with ?? [])].join(' ')

/** Runs it in the folder of a clone: this one, or one of another commit. */
export async function measured(folder: string, benchmark: Benchmark, isQuick: boolean): Promise<Measured> {
  const given = [...(benchmark.with ?? []), ...(isQuick ? (benchmark.quick ?? []) : [])]
  const before = processorSeconds()
  const start = performance.now()
  const parameters = ['scripts/run.mjs', 'bench/main.ts', benchmark.name, ...given]
  const child = spawn(process.execPath, parameters, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [printed, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${titleOf(benchmark)} ended with code ${code}:\n${printed}${errors}`)
  const after = processorSeconds()
  return {
    seconds: (performance.now() - start) / 1000,
    processorSeconds: before === undefined || after === undefined ? undefined : after - before,
    ratios: new Map([...printed.matchAll(FIGURE)].map(([, name, ratio]) => [name as string, Number(ratio)])),
  }
}

export const keeps = ({ most, least }: Bound, ratio: number): boolean =>
  (most === undefined || ratio <= most) && (least === undefined || ratio >= least)

export const boundText = ({ most, least }: Bound): string =>
  most === undefined ? `at least ${least}` : `at most ${most}`

export const inSeconds = (seconds: number | undefined): string => (seconds === undefined ? '' : seconds.toFixed(1))

/** Lines whose columns stand below one another: the first at the left, the others at the right. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
    )
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')
}
