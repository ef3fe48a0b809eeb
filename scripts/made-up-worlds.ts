/** Made-up tool rows, scopes and rules with which converters can be called. */
import { type Column, common, type Table, type TableRow } from '../src/database/table.ts'
import { domainTables } from '../src/domain/index.ts'
import type { Entity } from '../src/plugin-kit/spec/entity.ts'
import { idMaker } from '../src/plugin-kit/spec/id-of.ts'
import type { Plugin } from '../src/plugin-kit/spec/plugin.ts'

const SCOPE_CONFIG = 'scope config'

/** One value that a converter can read. */
export interface Input {
  readonly name: string
  readonly values: readonly unknown[]
  /** True for text, which may have to be one of a few words. */
  readonly isText?: boolean
  /** Puts a value into the input of the converter. */
  readonly put: (world: World, value: unknown) => void
}

export interface World {
  readonly row: Record<string, any>
  readonly scope: Record<string, any>
  readonly lookups: Record<string, { readonly row: Record<string, any>; readonly isMany: boolean }>
  /** Joined rows and lookups that are missing. */
  readonly hidden: Set<string>
  config: 'yes' | 'no' | 'mixed'
  connection: number
}

const TIMES = ['2024-01-02T03:04:05Z', '2024-05-06T07:08:09Z'].map((text) => new Date(text))
const ADDRESS = 'https://tool.example/rest/agile/1.0/issue/7'

function valuesOf(name: string, { kind, missing }: Column, documents: readonly string[]): readonly unknown[] {
  if (kind === 'timestamp' || kind === 'date') return missing === 'null' ? [...TIMES, null] : TIMES
  if (kind === 'boolean') return [true, false]
  if (kind === 'json') return [null, [`${name} 1`], { name: `${name} 2` }]
  if (kind === 'string' || kind === 'text') return [`${name} #1`, `${name} #2`, ADDRESS, '', ...documents]
  return [61_000, 125_000, 0, ...(missing === 'null' ? [null] : [])]
}

/** JSON with the fields that a converter reads from a text. */
function documentsIn(source: string): string[] {
  const [, fields] = /\{([\w\s,]+)\} = JSON\.parse/.exec(source) ?? []
  if (!fields) return []
  const names = fields.split(',').map((name) => name.trim())
  const documentOf = (mark: number) =>
    names.map((name) => {
      const inner = [...source.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, part]) => [
        part,
        `${name} ${mark}`,
      ])
      return [name, inner.length > 0 ? Object.fromEntries(inner) : `${name} ${mark}`]
    })
  return [1, 2].map((mark) => JSON.stringify(Object.fromEntries(documentOf(mark))))
}

const shortName = (table: Table<any>, plugin: string): string => table.name.replace(new RegExp(`^_tool_${plugin}_`), '')
const ownColumns = ({ columns, names }: Table<any>): [string, Column][] =>
  names.filter((name) => !(name in common) && name !== 'connection_id').map((name) => [name, columns[name]])

/** Everything that a converter can read: its rows, those that it joins or looks up, the scope and its config. */
export function inputsOf({ table, spec }: Entity, plugin: Plugin): Input[] {
  const documents = documentsIn(String(spec.convert?.rows))
  const columnsOf = (of: Table<any>, place: (world: World) => Record<string, any>): Input[] =>
    ownColumns(of).map(([name, column]) => ({
      name: `${shortName(of, plugin.name)}.${name}`,
      values: valuesOf(name, column, documents),
      isText: column.kind === 'string' || column.kind === 'text',
      put: (world, value) => {
        place(world)[name] = value
      },
    }))
  /** The presence of a row is never an origin by itself, so this input has no name. */
  const presenceOf = (name: string): Input => ({
    name: '',
    values: [true, false],
    put: ({ hidden }, isThere) => void (isThere ? hidden.delete(name) : hidden.add(name)),
  })
  const inputs = columnsOf(table, ({ row }) => row)
  for (const [alias, join] of Object.entries<any>(spec.convert?.joins ?? {})) {
    inputs.push(...columnsOf(join.table, ({ row }) => row[alias]))
    if (join.isOptional) inputs.push(presenceOf(alias))
  }
  for (const [name, { table: of }] of Object.entries<any>(spec.convert?.lookups ?? {})) {
    inputs.push(...columnsOf(of, ({ lookups }) => lookups[name]?.row ?? {}), presenceOf(name))
  }
  const scope = plugin.source?.scope.table
  if (scope && scope !== table) inputs.push(...columnsOf(scope, (world) => world.scope))
  const config: readonly World['config'][] = ['yes', 'no', 'mixed']
  const answer: Input['put'] = (world, value) => {
    world.config = value as World['config']
  }
  inputs.push({ name: SCOPE_CONFIG, values: config, put: answer })
  return inputs
}

export function worldOf({ spec }: Entity, inputs: readonly Input[], choose: (input: Input) => number): World {
  const joins = Object.keys(spec.convert?.joins ?? {}).map((alias) => [alias, {}])
  const lookups = Object.entries<any>(spec.convert?.lookups ?? {}).map(([name, { isMany }]) => [
    name,
    { row: {}, isMany: Boolean(isMany) },
  ])
  const world: World = {
    row: Object.fromEntries(joins),
    scope: {},
    lookups: Object.fromEntries(lookups),
    hidden: new Set(),
    config: 'yes',
    connection: 1,
  }
  for (const input of inputs) input.put(world, input.values[choose(input)])
  return world
}

/** A pattern that matches a text once, as a whole. */
const wholeText = {
  matcher(text: string) {
    let isOver = false
    return {
      group: () => text,
      find() {
        const isFound = !isOver
        isOver = true
        return isFound
      },
    }
  },
}
const isEven = (text: string) => [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2 === 0
/** Rules that answer yes or no to every question, or depending on the question. Patterns match, or are missing. */
const configOf = (answer: World['config']): unknown =>
  new Proxy(
    {},
    {
      get:
        (_rules, name) =>
        (...asked: unknown[]) => {
          if (/pattern$/i.test(String(name))) return answer === 'no' ? undefined : wholeText
          const told = answer === 'mixed' ? isEven(JSON.stringify(asked)) : answer === 'yes'
          // Some rules answer in two columns at once, with a time, or with the question itself.
          if (name === 'startOf') return told ? new Date(Number(asked[0])) : null
          if (name === 'deliveryOf') return { type: told, environment: told }
          return name === 'typeOrText' && told ? asked[0] : told
        },
    },
  )

/** The domain rows that a converter makes; none if it can make nothing of such values. */
export function convertedBy(
  { spec }: Entity,
  { row, scope, lookups, hidden, config, connection }: World,
): readonly TableRow[] {
  const found = Object.entries(lookups).map(([name, { row: only, isMany }]) => {
    const value = hidden.has(name) ? undefined : isMany ? [only] : only
    return [name, { get: () => value, has: () => value !== undefined }]
  })
  const seen = { ...row }
  for (const alias of hidden) if (alias in seen) seen[alias] = null
  const context = {
    connectionId: connection,
    connection: { endpoint: ADDRESS },
    idOf: idMaker(connection),
    scope,
    scopeConfig: configOf(config),
    lookups: Object.fromEntries(found),
  }
  try {
    return [...(spec.convert?.rows(seen as never, context as never) ?? [])].filter((each) => isDomain.has(each.table))
  } catch {
    return []
  }
}
export const isDomain = new Set(domainTables)
