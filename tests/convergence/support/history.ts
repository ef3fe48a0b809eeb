/** Histories as plain data, so that a failed one can be pasted into a test. */
import fc, { type Arbitrary } from 'fast-check'
import { FAULT_KINDS } from './faults.ts'
import type { VendorUnderTest } from './vendor-under-test.ts'

export type Parameter = string | number | boolean
/** The name of an operation, of the machine or of the vendor, and its parameters. Scopes are numbers. */
export type Operation = readonly [name: string, ...parameters: Parameter[]]
export type History = readonly Operation[]

interface OwnOperation {
  readonly weight: number
  readonly arguments: (vendor: VendorUnderTest) => readonly Arbitrary<Parameter>[]
  readonly applies?: (vendor: VendorUnderTest) => boolean
  /** Like the flag of a change at the vendor: only a full sync finds it. */
  readonly leavesNoTrace?: true
}

const scope = ({ scopes }: VendorUnderTest) => fc.nat(scopes.length - 1)
const project = fc.nat(1)
const minutes = fc.constantFrom(-180, -61, -2, 2, 61, 180)
/** A run without news sends few statements, and a first run many. */
const moment = fc.oneof(fc.nat(20), fc.nat(400))

export const START_DATES = 3

/** The operations of histories, besides changes at the vendor. */
export const OPERATIONS = {
  run: { weight: 8, arguments: (vendor) => [scope(vendor)] },
  /** Runs two scopes at the same time. */
  'run both': { weight: 2, arguments: (vendor) => [scope(vendor), scope(vendor)] },
  /** Runs one scope in two tasks at the same time. */
  'run twice': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  'full sync': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  /** A run whose process ends after this many statements. */
  kill: { weight: 2, arguments: (vendor) => [scope(vendor), moment] },
  /** A run in a separate process that is killed at a request. It is slow, so it occurs only in tests that name it. */
  'kill process': { weight: 0, arguments: (vendor) => [scope(vendor), fc.nat(40)] },
  /** A run that is cancelled at a request. */
  cancel: { weight: 1, arguments: (vendor) => [scope(vendor), fc.nat(40)] },
  'add scope': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  'delete scope': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  /** Project mapping, then the scopes one after the other, then metrics. */
  'run project': { weight: 2, arguments: () => [project] },
  'add project': { weight: 1, arguments: () => [project] },
  'delete project': { weight: 1, arguments: () => [project] },
  /** Puts a scope into a project, or takes it out. */
  regroup: { weight: 1, arguments: (vendor) => [project, scope(vendor)] },
  'change rules': {
    weight: 1,
    arguments: ({ rules }) => [fc.nat(rules.length - 1)],
    applies: ({ rules }) => rules.length > 1,
  },
  /** The first operation of every history: 0 has records on both sides, 1 is before everything, 2 means no start date. */
  'start date': { weight: 0, arguments: () => [fc.nat(START_DATES - 1)] },
  /** More records are wanted than before, and finally all. */
  'earlier start date': { weight: 1, arguments: () => [] },
  /** Records that are now too old stay until a full sync. */
  'later start date': { weight: 1, arguments: () => [], leavesNoTrace: true },
  'swap interface': { weight: 1, arguments: () => [], applies: ({ interfaces }) => interfaces.length > 1 },
  /** From now on Weir's clock is wrong by this many minutes. */
  'our clock': { weight: 1, arguments: () => [minutes] },
  /** The vendor's clock jumps ahead by this many minutes. */
  'vendor clock': { weight: 1, arguments: () => [fc.constantFrom(2, 61, 180)] },
  /** Delivers one of the changes that the vendor has sent: the newest, or one of those before. */
  deliver: {
    weight: 3,
    arguments: () => [fc.oneof(fc.constant(0), fc.nat(9))],
    applies: ({ interfaces }) => interfaces[0].source?.deliveries !== undefined,
  },
  /** Collects the neighbouring tool. `delete neighbour` deletes the data of one of its scopes. */
  'run neighbour': { weight: 1, arguments: () => [], applies: ({ neighbour }) => neighbour !== undefined },
  'delete neighbour': { weight: 1, arguments: () => [fc.nat(1)], applies: ({ neighbour }) => neighbour !== undefined },
  wait: { weight: 1, arguments: () => [fc.constantFrom(1, 30, 60 * 25)] },
  fault: {
    weight: 1,
    arguments: ({ lists }) => [
      fc.constantFrom(...FAULT_KINDS),
      fc.constantFrom(...lists),
      fc.integer({ min: 1, max: 3 }),
    ],
    applies: ({ lists }) => lists.length > 0,
  },
  /** A list that answers 500 until the faults are cleared. */
  'lasting fault': {
    weight: 1,
    arguments: ({ lists }) => [fc.constantFrom(...lists)],
    applies: ({ lists }) => lists.length > 0,
  },
  'clear faults': { weight: 1, arguments: () => [], applies: ({ lists }) => lists.length > 0 },
} as const satisfies Record<string, OwnOperation>
export type OwnOperationName = keyof typeof OPERATIONS

/** The weight of changes at the vendor, compared with the weights of the machine's own operations. */
const CHANGES_WEIGHT = 16
const LONGEST = 14

/** Half of the histories omit changes that an incremental run cannot see, since the full syncs at their end would hide many faults. */
export function anyHistory(vendor: VendorUnderTest, isEnabled: (operation: string) => boolean): Arbitrary<History> {
  const ownOf = (withoutTrace: boolean) =>
    Object.entries<OwnOperation>(OPERATIONS)
      .filter(([name, { weight, applies }]) => weight > 0 && isEnabled(name) && (applies?.(vendor) ?? true))
      .filter(([, { leavesNoTrace }]) => withoutTrace || !leavesNoTrace)
      .map(([name, operation]) => ({ weight: operation.weight, arbitrary: tuple(name, operation.arguments(vendor)) }))
  const changesOf = (withoutTrace: boolean) =>
    Object.entries(vendor.changes)
      .filter(([name, { leavesNoTrace }]) => isEnabled(name) && (withoutTrace || !leavesNoTrace))
      .map(([name, change]) => tuple(name, change.arguments))
  const listOf = (withoutTrace: boolean) =>
    fc.array(
      fc.oneof(...ownOf(withoutTrace), { weight: CHANGES_WEIGHT, arbitrary: fc.oneof(...changesOf(withoutTrace)) }),
      {
        minLength: 3,
        maxLength: LONGEST,
        size: 'max',
      },
    )
  const startDate = tuple('start date', OPERATIONS['start date'].arguments())
  return fc.tuple(startDate, fc.boolean().chain(listOf)).map(([first, rest]) => [first, ...rest])
}

const tuple = (name: string, parameters: readonly Arbitrary<Parameter>[]): Arbitrary<Operation> =>
  fc.tuple(fc.constant(name), ...parameters) as Arbitrary<Operation>

/** Formats a history as a call that can be pasted into a test. */
export function written(call: string, history: History): string {
  const literal = (value: Parameter) => (typeof value === 'string' ? `'${value}'` : String(value))
  const lines = history.map((operation) => `  [${operation.map(literal).join(', ')}],`)
  return [`${call}([`, ...lines, '])'].join('\n')
}

/**
 * Finds a smaller history with the same failure: first without unnecessary operations, then with smaller numbers. It stops
 * after `mostTries` attempts. With randomness, such as the moment of a kill, a history that failed before may pass.
 */
export async function minimise(
  history: History,
  fails: (history: History) => Promise<boolean>,
  mostTries = 150,
): Promise<History> {
  let tries = 0
  let smallest = history
  const isSmaller = async (candidate: History) => {
    if (tries++ >= mostTries || !(await fails(candidate))) return false
    smallest = candidate
    return true
  }
  for (let size = Math.ceil(history.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < smallest.length; ) {
      const candidate = smallest.toSpliced(start, size)
      if (candidate.length === smallest.length || !(await isSmaller(candidate))) start += size
    }
  }
  for (let position = 0; position < smallest.length; position++) {
    for (let index = 1; index < (smallest[position] as Operation).length; index++) {
      const value = smallest[position]?.[index]
      if (typeof value !== 'number') continue
      for (const smaller of new Set([0, 1, Math.trunc(value / 2)])) {
        if (Math.abs(smaller) >= Math.abs(value)) continue
        const operation = (smallest[position] as Operation).with(index, smaller) as unknown as Operation
        if (await isSmaller(smallest.with(position, operation))) break
      }
    }
  }
  return smallest
}
