import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../../support/databases.ts'
import { isEnabled } from '../enabled.ts'
import { anyHistory, type History, minimise, written } from './history.ts'
import { LawBroken, type Machine, startMachine } from './machine.ts'
import type { VendorUnderTest } from './vendor-under-test.ts'

export interface Size {
  /** The number of histories on each engine. */
  readonly few: number
  /** With FULL_SIZE=true: the number of histories on both engines together. */
  readonly many: number
}

/** `HISTORIES=n` overrides the number, and FAST_CHECK_SEED searches elsewhere. */
const countOf = ({ few, many }: Size): number =>
  Number(process.env.HISTORIES) || (process.env.FULL_SIZE === 'true' ? Math.ceil(many / 2) : few)

const A_HISTORY_MS = 30_000

/** Checks the law of convergence with random histories of a vendor. */
export function describeConvergence(vendor: VendorUnderTest, size: Size): void {
  describeMachine(`${vendor.name} converges`, vendor, (machine) => {
    const count = countOf(size)
    it(`after each of ${count} histories`, { timeout: 600_000 + count * A_HISTORY_MS }, async () => {
      const histories = anyHistory(vendor, (operation) => isEnabled(vendor, operation))
      const property = fc.asyncProperty(histories, (history) => machine().live(history))
      const result = await fc.check(property, { numRuns: count, endOnFailure: true })
      if (result.failed) {
        const [history] = result.counterexample as [History]
        throw new Error(await report(machine(), history, result))
      }
    })
  })
}

async function report(machine: Machine, history: History, result: fc.RunDetails<[History]>) {
  let message = String(result.errorInstance)
  const fails = async (candidate: History) => {
    try {
      await machine.live(candidate)
      return false
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error
      message = error.message
      return true
    }
  }
  const smallest = await minimise(history, fails)
  const place = `seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numRuns} histories`
  return `${place}\n\n${written('history', smallest)}\n\n${message}`
}

/** Checks histories that once broke the law. Paste here what `describeConvergence` prints. */
export function describeHistories(
  vendor: VendorUnderTest,
  body: (lives: (title: string, history: History) => void) => void,
): void {
  describeMachine(`${vendor.name} converges`, vendor, (machine) =>
    body((title, history) => it(title, () => expect(machine().live(history)).resolves.toBeUndefined())),
  )
}

function describeMachine(title: string, vendor: VendorUnderTest, body: (machine: () => Machine) => void): void {
  describeEachWithTables(title, (test) => {
    let machine: Machine | undefined
    beforeAll(async () => {
      machine = await startMachine(vendor, [test.url, await test.createWithTables()])
    })
    afterAll(() => machine?.stop())
    body(() => machine as Machine)
  })
}
