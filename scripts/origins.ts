/**
 * Finds where the values of domain columns come from, by calling the converters themselves. Each gets made-up tool rows. When
 * one value in them is changed, the cells that change with it are made of that column. A cell that nothing changes is a
 * literal.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { common, type Table, type TableRow } from '../src/database/table.ts'
import type { Entity } from '../src/plugin-kit/spec/entity.ts'
import type { Plugin } from '../src/plugin-kit/spec/plugin.ts'
import { convertedBy, type Input, inputsOf, isDomain, worldOf } from './made-up-worlds.ts'

/** The origin of one column: the tool columns that it is made of, and literals if it is made of none. */
export interface Origin {
  readonly from: Set<string>
  readonly literals: Set<string>
}
/** Domain table → column → origin of the values that one plugin writes. */
export type Origins = Map<string, Map<string, Origin>>

/** An origin that is no column of a row. */
const CONNECTION = 'connection'
/** The number of made-up worlds for each converter, and of other values for each input in a world. */
const WORLDS = 40
const OTHERS = 3

/** Pseudo-random numbers that are the same on every machine. */
function dice(): (sides: number) => number {
  let state = 7
  return (sides) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return Math.floor((state / 4_294_967_296) * sides)
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (one instanceof Date && other instanceof Date && one.getTime() === other.getTime())
const isEmpty = (cell: unknown): boolean => cell === null || cell === '' || cell === 0 || cell === false

/** Calls back for each cell that differs, if both sides have the same rows of the same tables. */
function compare(
  before: readonly TableRow[],
  after: readonly TableRow[],
  differs: (place: string, one: unknown, other: unknown) => void,
): void {
  if (before.length !== after.length) return
  for (const [index, { table, cells }] of before.entries()) {
    const other = after[index] as TableRow
    if (other.table !== table) return
    for (let position = 0; position < cells.length; position++) {
      const name = table.names[position] as string
      if (name in common || isSame(cells[position], other.cells[position])) continue
      differs(`${table.name}.${name}`, cells[position], other.cells[position])
    }
  }
}

const textsIn = (folder: URL): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.ts$/.test(name))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))

/** Words that the source of a plugin compares with, or lists. */
function wordsOf(plugin: Plugin): string[] {
  const own = new URL(`../src/plugins/${plugin.name.replaceAll('_', '-')}/`, import.meta.url)
  const texts = [own, new URL('../src/domain/', import.meta.url)].flatMap(textsIn)
  const listed = (text: string) =>
    [...text.matchAll(/(?:=== |!== |\[|, )'([a-z][\w -]{1,24})'/gi)].map(([, word]) => word)
  const named = (text: string) => [...text.matchAll(/[{,] (\w{2,24}): '[A-Z_]+'/g)].map(([, word]) => word)
  return [...new Set(texts.flatMap((text) => [...listed(text), ...named(text)]) as string[])]
}

const NEUTRAL = 'neutral'

/** Adds the words that a converter treats differently from other text in these worlds. */
function withKnownWords(
  entity: Entity,
  inputs: readonly Input[],
  words: readonly string[],
  choices: readonly ((input: Input) => number)[],
): Input[] {
  return inputs.map((input) => {
    if (!input.isText) return input
    const known = new Set<string>()
    for (const choose of choices) {
      const world = worldOf(entity, inputs, choose)
      input.put(world, NEUTRAL)
      const neutral = convertedBy(entity, world)
      for (const word of words) {
        input.put(world, word)
        const made = convertedBy(entity, world)
        const isElsewhere = made.some(({ table }, index) => table !== neutral[index]?.table)
        if (made.length > neutral.length || isElsewhere) known.add(word)
        compare(neutral, made, (_place, one, other) => {
          if (typeof other !== 'string' || other.replaceAll(word, NEUTRAL) !== one) known.add(word)
        })
      }
    }
    return { ...input, values: [...new Set([...input.values, ...known])] }
  })
}

/** Some words count only together with others, or when a joined row is missing. */
function inputsWithWords(entity: Entity, plugin: Plugin, words: readonly string[]): Input[] {
  const plain = inputsOf(entity, plugin)
  const counts = new Map(plain.map(({ name, values }) => [name, values.length]))
  const isPlain = plain.every(({ name }) => name !== '')
  const all = () => 0
  const bare = ({ name }: Input) => (name === '' ? 1 : 0)
  const first = withKnownWords(entity, plain, words, isPlain ? [all] : [all, bare])
  if (isPlain) return first
  const kth = (k: number) => (input: Input) => {
    const own = counts.get(input.name) ?? 0
    return input.isText && input.values.length > own ? own + (k % (input.values.length - own)) : 0
  }
  return withKnownWords(entity, first, words, [0, 1, 2, 3, 4, 5, 6].map(kth))
}

/** Known words are at the end, and matter most. */
const pick = ({ isText, values }: Input, roll: (sides: number) => number): number => {
  const from = isText && roll(2) === 0 ? Math.floor(values.length / 2) : 0
  return from + roll(values.length - from)
}

/** Notes what the cells of one converter are made of; returns the tables that it wrote. */
function originsOf(plugin: Plugin, entity: Entity, words: readonly string[], origins: Origins): Set<string> {
  const inputs = inputsWithWords(entity, plugin, words)
  const roll = dice()
  const written = new Set<string>()
  const values = new Map<string, Set<string>>()
  const influences = new Map<string, Set<string>>()
  const influence = (name: string) => (place: string) =>
    void influences.set(place, (influences.get(place) ?? new Set()).add(name))
  for (let number = 0; number < WORLDS; number++) {
    // The first world has a value everywhere.
    const choices = new Map(inputs.map((input) => [input, number === 0 ? 0 : pick(input, roll)]))
    const world = worldOf(entity, inputs, (input) => choices.get(input) ?? 0)
    const rows = convertedBy(entity, world)
    for (const { table, cells } of rows) {
      written.add(table.name)
      for (const [position, name] of table.names.entries()) {
        const place = `${table.name}.${name}`
        if (name in common || isEmpty(cells[position])) continue
        values.set(place, (values.get(place) ?? new Set()).add(String(cells[position])))
      }
    }
    for (const input of inputs) {
      const own = input.values[choices.get(input) ?? 0]
      for (let other = 0; other < OTHERS && input.name !== ''; other++) {
        input.put(world, input.values[pick(input, roll)])
        compare(rows, convertedBy(entity, world), influence(input.name))
      }
      input.put(world, own)
    }
    world.connection = 2
    compare(rows, convertedBy(entity, world), (place) => {
      if (!influences.has(place)) influence(CONNECTION)(place)
    })
  }
  for (const [place, all] of values) note(origins, place, influences.get(place) ?? new Set(), all)
  return written
}

function note(origins: Origins, place: string, from: Set<string>, values: ReadonlySet<string>): void {
  const [table = '', column = ''] = place.split('.')
  const columns = origins.get(table) ?? new Map<string, Origin>()
  origins.set(table, columns)
  const origin = columns.get(column) ?? { from: new Set<string>(), literals: new Set<string>() }
  columns.set(column, origin)
  // Every id contains the connection, wherever the rest comes from.
  if (from.size > 1) from.delete(CONNECTION)
  for (const each of from) origin.from.add(each)
  if (from.size === 0) for (const value of values) origin.literals.add(value)
}

export interface PluginOrigins {
  readonly plugin: Plugin
  readonly origins: Origins
  /** Domain tables that a converter declares but never wrote. */
  readonly unseen: readonly string[]
}

/** Covers every plugin that converts. A plugin that works with the connections of another is left out, because it has the same converters. */
export function findOrigins(plugins: readonly Plugin[]): PluginOrigins[] {
  const { stackTraceLimit } = Error
  // Made-up values cause many errors, and nobody looks at their stacks.
  Error.stackTraceLimit = 0
  try {
    return plugins.flatMap(originsOfPlugin)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function originsOfPlugin(plugin: Plugin): PluginOrigins[] {
  if (plugin.source?.settingsOf) return []
  const all = (plugin.source ?? plugin.pushSource)?.entities ?? []
  const entities = all.filter(({ spec }) => spec.convert?.to.some((table: Table<any>) => isDomain.has(table)))
  if (entities.length === 0) return []
  const origins: Origins = new Map()
  const words = wordsOf(plugin)
  const unseen = entities.flatMap((entity) => {
    const written = originsOf(plugin, entity, words, origins)
    const promised: readonly Table<any>[] = entity.spec.convert?.to ?? []
    return promised
      .filter((table) => isDomain.has(table) && !written.has(table.name))
      .map(({ name }) => `${entity.spec.label}: ${name}`)
  })
  return [{ plugin, origins, unseen }]
}
