/** Histories as plain data, so that a failed one can be pasted into a test. */
import fc, { type Arbitrary } from 'fast-check'
import { FAULT_KINDS } from './faults.ts'
import type { VendorUnderTest } from './vendor-under-test.ts'

export type Parameter = string | number | boolean
/** The name of an operation, ours or the vendor's, and what it takes. Scopes are numbers. */
export type Operation = readonly [name: string, ...parameters: Parameter[]]
export type History = readonly Operation[]

interface OwnOperation {
  readonly weight: number
  readonly arguments: (vendor: VendorUnderTest) => readonly Arbitrary<Parameter>[]
  readonly applies?: (vendor: VendorUnderTest) => boolean
  /** As of a change at the vendor: only a full sync finds it out. */
  readonly leavesNoTrace?: true
}

const scope = ({ scopes }: VendorUnderTest) => fc.nat(scopes.length - 1)
const project = fc.nat(1)
const minutes = fc.constantFrom(-180, -61, -2, 2, 61, 180)
/** Few statements happen in a run over nothing new, many in a first one. */
const moment = fc.oneof(fc.nat(20), fc.nat(400))

export const START_DATES = 3

/** What histories are made of besides changes at the vendor. */
export const OPERATIONS = {
  run: { weight: 8, arguments: (vendor) => [scope(vendor)] },
  /** Two scopes at one time. */
  'run both': { weight: 2, arguments: (vendor) => [scope(vendor), scope(vendor)] },
  /** One scope by two tasks at one time. */
  'run twice': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  'full sync': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  /** A run whose process ends after so many statements. */
  kill: { weight: 2, arguments: (vendor) => [scope(vendor), moment] },
  /** A run in a process of its own that is killed at a request. It takes long: tests name it themselves. */
  'kill process': { weight: 0, arguments: (vendor) => [scope(vendor), fc.nat(40)] },
  /** A run that is cancelled at a request. */
  cancel: { weight: 1, arguments: (vendor) => [scope(vendor), fc.nat(40)] },
  'add scope': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  'delete scope': { weight: 1, arguments: (vendor) => [scope(vendor)] },
  /** Mapping, the scopes one after the other, metrics. */
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
  /** Every history begins with one: 0 has records on both sides, 1 is before everything, 2 is none. */
  'start date': { weight: 0, arguments: () => [fc.nat(START_DATES - 1)] },
  /** More is wanted than before, and at last everything. */
  'earlier start date': { weight: 1, arguments: () => [] },
  /** What is older stays until a full sync. */
  'later start date': { weight: 1, arguments: () => [], leavesNoTrace: true },
  'swap interface': { weight: 1, arguments: () => [], applies: ({ interfaces }) => interfaces.length > 1 },
  /** Our clock is wrong by so many minutes from now on. */
  'our clock': { weight: 1, arguments: () => [minutes] },
  /** The vendor's clock jumps ahead by so many minutes. */
  'vendor clock': { weight: 1, arguments: () => [fc.constantFrom(2, 61, 180)] },
  /** One of the changes that the vendor has told of arrives: the newest, or one of those before. */
  deliver: {
    weight: 3,
    arguments: () => [fc.oneof(fc.constant(0), fc.nat(9))],
    applies: ({ interfaces }) => interfaces[0].source?.deliveries !== undefined,
  },
  /** The tool beside it is collected, and loses the data of a scope. */
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

/** How often something changes at the vendor, of what our own operations weigh in all. */
const CHANGES_WEIGHT = 16
const LONGEST = 14

/** Half of the histories leave out what an incremental run cannot see, since full syncs at their end would hide much. */
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

/** As a call that can be pasted. */
export function written(call: string, history: History): string {
  const literal = (value: Parameter) => (typeof value === 'string' ? `'${value}'` : String(value))
  const lines = history.map((operation) => `  [${operation.map(literal).join(', ')}],`)
  return [`${call}([`, ...lines, '])'].join('\n')
}

/**
 * The same failure with less: without operations that it does not need, then with smaller numbers. A history is tried at
 * most so often; chance, as in the moment of a kill, may make one pass that failed before.
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
