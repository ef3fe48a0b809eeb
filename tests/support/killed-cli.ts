/** Kills commands in the middle, at steps that are chosen at random but are the same in every run. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { startCli } from './cli.ts'

const preload = `--import=${new URL('./kill-at-step.mjs', import.meta.url)}`

type Environment = Record<string, string>

/** Runs the whole command, and returns the number of its steps. */
export async function countSteps(parameters: readonly string[], environment: Environment): Promise<number> {
  const file = join(mkdtempSync(join(tmpdir(), 'weir-steps-')), 'steps')
  const cli = startCli(parameters, { ...environment, NODE_OPTIONS: preload, STEPS_FILE: file })
  expect([await cli.ended, cli.errors()]).toEqual([0, ''])
  return Number(readFileSync(file, 'utf8'))
}

/** Chooses one step from each of `count` equal parts of the command. Kills that all fall into one phase would show little. */
export function chooseSteps(steps: number, count: number): number[] {
  const size = steps / count
  return Array.from({ length: count }, (_, part) => {
    const range = { min: Math.floor(part * size) + 1, max: Math.floor((part + 1) * size) }
    const [chosen = range.max] = fc.sample(fc.integer(range), 1)
    return chosen
  })
}

/** Kills the command at a step. The command may end by itself only if it has fewer steps than that. */
export async function killAt(step: number, parameters: readonly string[], environment: Environment): Promise<void> {
  const cli = startCli(parameters, { ...environment, NODE_OPTIONS: preload, KILL_AT: String(step) })
  const ended = await cli.ended
  if (ended !== 'SIGKILL') expect([ended, cli.errors()]).toEqual([0, ''])
}
