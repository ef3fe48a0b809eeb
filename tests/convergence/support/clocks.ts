/**
 * Time as histories need it: hours pass at once, our clock may be wrong, and the vendor's may be ahead. While it is in
 * force it replaces `Date`, so that whatever asks for the time is told the same.
 */
import { systemClock } from '../../../src/plugin-kit/http/clock.ts'

const RealDate = globalThis.Date
const MINUTE = 60_000
/** More than any history sets our clock ahead: whatever was stamped then has passed when the next one begins. */
const BETWEEN_HISTORIES = 24 * 60 * MINUTE

let passed = 0
let ourError = 0
let vendorLead = 0

class MovedDate extends RealDate {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(MovedDate.now())
    else super(...given)
  }
  static override now(): number {
    return RealDate.now() + passed + ourError
  }
  /** Some dates were made before this module. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return RealDate.prototype.isPrototypeOf.call(RealDate.prototype, value as object)
  }
}
const realClock = { ...systemClock }

export const clocks = {
  start(): void {
    globalThis.Date = MovedDate as DateConstructor
    // Waits before another attempt tell nothing about the law.
    Object.assign(systemClock, { now: () => Date.now(), random: () => 0 })
  },
  /** Test files share a process: the next one wants the time of everybody. */
  stop(): void {
    globalThis.Date = RealDate
    Object.assign(systemClock, realClock)
  },
  /** For the vendor. It only goes ahead: what a clock that is set back hides, nobody can find. */
  vendorNow: (): number => RealDate.now() + passed + vendorLead,
  /** Time passes for everybody. */
  pass(minutes: number): void {
    passed += minutes * MINUTE
  },
  setOurError(minutes: number): void {
    ourError = minutes * MINUTE
  },
  advanceVendor(minutes: number): void {
    vendorLead += minutes * MINUTE
  },
  /** For another process that is to see the same time. */
  ours: (): number => passed + ourError,
  setOurs(milliseconds: number): void {
    passed = milliseconds
    ourError = 0
  },
  begin(): void {
    passed += BETWEEN_HISTORIES + vendorLead
    ourError = 0
    vendorLead = 0
  },
}
