/**
 * The parts that a plugin provides to be checked by the law of convergence. They are a vendor's server, and the scopes and
 * rules to collect it with. The server's records appear, change and disappear on demand. `describeConvergence` of suite.ts
 * does the rest.
 */
import type { Arbitrary } from 'fast-check'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { type FaultyServer, startFaultyProxy } from './faults.ts'

export interface VendorUnderTest {
  readonly name: string
  /** Ways to collect the same data, such as REST and GraphQL. The first one is used unless a history swaps them. */
  readonly interfaces: readonly [Plugin, ...Plugin[]]
  /**
   * The file that exports the plugins, relative to the repository. Needed for runs that are killed in separate processes. It
   * must be in PROGRAMS too.
   */
  readonly module?: string
  /** Another tool in the same database, whose name begins with this one's and whose scopes have the same ids. */
  readonly neighbour?: Plugin
  /** Two to four scopes that overlap as far as the vendor's scopes can. A history begins with the first two. */
  readonly scopes: readonly ScopeUnderTest[]
  /** Scope configs between which histories change. All scopes share the present one. */
  readonly rules: readonly [Rules, ...Rules[]]
  /**
   * A start date with records on both sides, by the vendor's clock when a history begins. By default it is that moment, so
   * that later changes are collected and earlier records are not.
   */
  readonly startDate?: (now: number) => Date
  /** Parts of addresses or bodies, each of one list that faults may affect. */
  readonly lists: readonly string[]
  readonly changes: Readonly<Record<string, VendorChange>>
  /** Columns whose value depends on more than the vendor's data, as `table.column`, with the reason. */
  readonly unlike?: Readonly<Record<string, string>>
  /** `now` is the vendor's clock. */
  start(now: () => number): Promise<RunningVendor>
}

export type Rules = Readonly<Record<string, unknown>>

export interface ScopeUnderTest {
  /** The options of a task for this scope. */
  readonly options: Readonly<Record<string, unknown>>
  /** The row of the scope table. */
  readonly row: Readonly<Record<string, unknown>>
}

export interface VendorChange {
  readonly arguments: readonly Arbitrary<string | number | boolean>[]
  /**
   * An incremental run cannot see this change: the vendor shows it neither by a time of change nor in an answer that is
   * requested anyway. A history with such a change ends with full syncs, and the entity's documentation names it.
   */
  readonly leavesNoTrace?: true
}

export interface RunningVendor {
  readonly server: FaultyServer
  /** Columns of the connection besides its id and name. The endpoint leads to `server`. */
  readonly connection: Readonly<Record<string, unknown>>
  /** Restores the state with which every history begins. */
  reset(): Promise<void>
  /** Makes a change. Numbers choose one of the existing records, so that every change is possible whatever came before. */
  change(name: string, parameters: readonly (string | number | boolean)[]): void
  /** The changes that the vendor has sent so far, in order, if it sends any. Deliveries come late, twice, or not at all. */
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

/** For fakes that are servers themselves: each history gets a new fake behind the same address. */
export interface FakeServer {
  readonly url: string
  stop(): Promise<void>
}
export async function behindFaults<Fake extends FakeServer>(parts: {
  readonly begin: () => Promise<Fake>
  readonly connection: (url: string) => Readonly<Record<string, unknown>>
  /** Makes a change in the fake. `send` takes what the vendor, at the outlet's address, sends about it. */
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

/** Picks an element by any number. Returns undefined from an empty list. */
export const pick = <Thing>(things: readonly Thing[], number: number): Thing | undefined =>
  things[number % things.length]
