import { expect } from 'vitest'
import { describeLive, liveStatus } from '../../../src/traffic/engine/live-status.ts'
import { describeSwitch, type SwitchRow } from '../../../src/traffic/engine/store.ts'
import type { setStage } from './stage.ts'

/** States in which nothing is under way: what is said about them must be so. */
const SETTLED = new Set(['prepared', 'shifting', 'rolled-back', 'cleaned-up', 'switched'])

/** The live rules, the journal, and what page and terminal say about the switch are one and the same. */
export async function agree(stage: ReturnType<typeof setStage>, row: SwitchRow): Promise<void> {
  const now = await stage.now(row)
  const journal = await stage.journal(row)
  // The journal alone tells the state, and each number once.
  const states = journal.filter(({ kind, effect }) => kind === 'state' && effect !== 'verified')
  const said = states.at(-1)!.effect
  // A note may also pause, because what a step met is no state of its own.
  expect(now.state === 'paused' && said === 'shifting' ? 'shifting' : now.state, 'state and journal').toBe(said)
  const numbers = journal.map(({ sequence }) => Number(sequence))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))

  const live = await liveStatus(stage.engine, now)
  expect(live.problem).toBeNull()
  const rules = Object.values(stage.weights()).filter((weights) => weights !== undefined)
  const texts = [...new Set(rules.map(([others, target]) => `${others}/${target}`))].toSorted()
  const isOver = now.state === 'draft' || now.state === 'cleaned-up'
  expect(Object.keys(live.weights).toSorted(), 'what the page draws').toEqual(isOver ? [] : texts)
  for (const text of isOver ? [] : texts)
    expect(describeLive(live), 'what the terminal prints').toContain(`${text} on `)
  if (!SETTLED.has(now.state)) return
  const shares = rules.map(([, target]) => target)
  if (now.state === 'rolled-back' || isOver) expect(shares.filter((share) => share > 0)).toEqual([])
  if (now.state === 'prepared') expect(describeSwitch(now).step).toBe(0)
}
