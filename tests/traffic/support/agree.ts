import { expect } from 'vitest'
import { describeStatus } from '../../../src/cli/traffic/status-text.ts'
import { switchStatus } from '../../../traffic/engine/status.ts'
import { describeSwitch, type SwitchRow } from '../../../traffic/engine/store.ts'
import { isOver } from '../../../traffic/model/state.ts'
import type { setStage } from './stage.ts'

/** States in which nothing is under way. Reports must say so. */
const SETTLED = new Set(['prepared', 'shifting', 'rolled-back', 'cleaned-up', 'aborted', 'switched'])

/** Checks that the live rules, the journal, the page and the terminal agree about the switch. */
export async function agree(stage: ReturnType<typeof setStage>, row: SwitchRow): Promise<void> {
  const now = await stage.now(row)
  const journal = await stage.journal(row)
  // The journal alone determines the state, and has each number once.
  const states = journal.filter(({ kind, effect }) => kind === 'state' && effect !== 'verified')
  const said = states.at(-1)!.effect
  // A note may also set the state to paused, because trouble during a step has no state of its own.
  expect(now.state === 'paused' && said === 'shifting' ? 'shifting' : now.state, 'state and journal').toBe(said)
  const numbers = journal.map(({ sequence }) => Number(sequence))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))

  const status = await switchStatus(stage.engine, now)
  expect(status.problem).toBeNull()
  const printed = describeStatus(describeSwitch(now), status)
  expect(printed, 'the headline of the page').toContain(status.headline)
  const rules = Object.values(stage.weights()).filter((weights) => weights !== undefined)
  const texts = [...new Set(rules.map(([others, target]) => `${others}/${target}`))].toSorted()
  const isNothingThere = now.state === 'draft' || isOver(now.state)
  expect(Object.keys(status.weights).toSorted(), 'what the page draws').toEqual(isNothingThere ? [] : texts)
  for (const text of isNothingThere ? [] : texts) {
    expect(printed, 'what the terminal prints').toContain(`${text} on `)
  }
  if (!SETTLED.has(now.state)) return
  const shares = rules.map(([, target]) => target)
  if (now.state === 'rolled-back' || isNothingThere) {
    expect(shares.filter((share) => share > 0)).toEqual([])
    if (now.dns_confirmed_at === null) expect(status.headline).toMatch(/100 % /)
  }
  // No report may say that traffic goes elsewhere than the rules send it.
  if (!isNothingThere) {
    const parts = Object.values(stage.weights()).map((weights) => {
      const [others = 1, target = 0] = weights ?? []
      return others + target === 0 ? 0 : target / (others + target)
    })
    // A path that somebody added in the meantime has no weights from Weir yet.
    if (status.rulesLeft > 0) parts.push(0)
    const share = { least: Math.min(1, ...parts), most: Math.max(0, ...parts) }
    expect(status.share, 'what the headline is made of').toEqual(share)
  }
  if (now.state === 'prepared') expect(describeSwitch(now).step).toBe(0)
}
