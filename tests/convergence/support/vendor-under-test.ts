/**
 * What a plugin brings to be checked by the law of convergence: a vendor's server whose things come, change and go away on
 * demand, and the scopes and rules that it is collected with. `describeConvergence` of suite.ts does the rest.
 */
import type { Arbitrary } from 'fast-check'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { type FaultyServer, startFaultyProxy } from './faults.ts'

export interface VendorUnderTest {
  readonly name: string
  /** Ways to collect the same things, such as REST and GraphQL; the first one unless a history swaps. */
  readonly interfaces: readonly [Plugin, ...Plugin[]]
  /** The file that exports them, from the repository, where runs in processes of their own are to be killed; also in PROGRAMS. */
  readonly module?: string
  /** Another tool in the same database whose name begins with this one's, and whose scopes have the same ids. */
  readonly neighbour?: Plugin
  /** Two to four that overlap as far as the vendor's can; a history begins with the first two. */
  readonly scopes: readonly ScopeUnderTest[]
  /** Scope configs to change between; all scopes share the one in force. */
  readonly rules: readonly [Rules, ...Rules[]]
  /**
   * A start date with records on both sides, by the vendor's clock when a history begins. Default: that moment, so that what
   * changes later is collected, and what was there before is not.
   */
  readonly startDate?: (now: number) => Date
  /** Parts of addresses or bodies, each of one list: what faults befall. */
  readonly lists: readonly string[]
  readonly changes: Readonly<Record<string, VendorChange>>
  /** Columns whose value depends on more than what the vendor has; `table.column`, and why. */
  readonly unlike?: Readonly<Record<string, string>>
  /** `now` is the vendor's clock. */
  start(now: () => number): Promise<RunningVendor>
}

export type Rules = Readonly<Record<string, unknown>>

export interface ScopeUnderTest {
  /** Of a task. */
  readonly options: Readonly<Record<string, unknown>>
  /** Of the scope table. */
  readonly row: Readonly<Record<string, unknown>>
}

export interface VendorChange {
  readonly arguments: readonly Arbitrary<string | number | boolean>[]
  /**
   * What an incremental run cannot see: the vendor tells of it neither by a time of change nor by an answer that is asked
   * for anyway. A history with such a change ends with full syncs, and the entity's documentation names it.
   */
  readonly leavesNoTrace?: true
}

export interface RunningVendor {
  readonly server: FaultyServer
  /** Columns of the connection besides its id and name; the endpoint leads to `server`. */
  readonly connection: Readonly<Record<string, unknown>>
  /** Back to what every history begins with. */
  reset(): Promise<void>
  /** Numbers pick one of the things that are there, so that every change applies whatever came before. */
  change(name: string, parameters: readonly (string | number | boolean)[]): void
  /** What it has sent of its changes so far, in their order, where it sends anything: deliveries come late, twice, or not at all. */
  readonly sent?: readonly SentChange[]
  stop(): Promise<void>
}

export interface SentChange {
  readonly event: string
  readonly payload: any
}

export interface Outlet {
  readonly url: string
  readonly send: (sent: SentChange) => void
}

/** For fakes that are servers of their own: one a history, behind one address. */
export interface FakeServer {
  readonly url: string
  stop(): Promise<void>
}
export async function behindFaults<Fake extends FakeServer>(parts: {
  readonly begin: () => Promise<Fake>
  readonly connection: (url: string) => Readonly<Record<string, unknown>>
  /** `send`: what the vendor, at that address, sends of it. */
  readonly change: (fake: Fake, name: string, parameters: readonly any[], outlet: Outlet) => void
}): Promise<RunningVendor> {
  let fake = await parts.begin()
  const sent: SentChange[] = []
  const server = await startFaultyProxy(() => fake.url)
  return {
    server,
    connection: parts.connection(server.url),
    async reset() {
      await fake.stop()
      fake = await parts.begin()
      sent.length = 0
    },
    sent,
    change(name, parameters) {
      parts.change(fake, name, parameters, { url: server.url, send: (each) => void sent.push(each) })
    },
    async stop() {
      await server.stop()
      await fake.stop()
    },
  }
}

/** One of what is there, whatever the number; undefined where nothing is. */
export const pick = <Thing>(things: readonly Thing[], number: number): Thing | undefined =>
  things[number % things.length]
