/**
 * The time for histories: hours pass at once, Weir's clock may be wrong, and the vendor's clock may be ahead. While started,
 * it replaces `Date`, so that all code sees the same time.
 */
import { systemClock } from '../../../src/plugin-kit/http/clock.ts'

const RealDate = globalThis.Date
const MINUTE = 60_000
/** More than any history sets Weir's clock ahead, so that every time stamp of a history is past when the next one begins. */
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
  /** Recognises dates that were made before this module was loaded. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return RealDate.prototype.isPrototypeOf.call(RealDate.prototype, value as object)
  }
}
const realClock = { ...systemClock }

export const clocks = {
  start(): void {
    globalThis.Date = MovedDate as DateConstructor
    // Waits between attempts do not matter to the law of convergence, so they have no random part.
    Object.assign(systemClock, { now: () => Date.now(), random: () => 0 })
  },
  /** Restores the real time, because test files share a process. */
  stop(): void {
    globalThis.Date = RealDate
    Object.assign(systemClock, realClock)
  },
  /** The vendor's time. It never goes back: nobody can find changes that a vendor hides by setting its clock back. */
  vendorNow: (): number => RealDate.now() + passed + vendorLead,
  /** Lets time pass for Weir and the vendor. */
  pass(minutes: number): void {
    passed += minutes * MINUTE
  },
  setOurError(minutes: number): void {
    ourError = minutes * MINUTE
  },
  advanceVendor(minutes: number): void {
    vendorLead += minutes * MINUTE
  },
  /** The offset of Weir's clock, for another process that must see the same time. */
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
