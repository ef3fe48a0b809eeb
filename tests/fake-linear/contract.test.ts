/** Every field, argument and input of the fake's schema must be one of Linear's, as `@linear/sdk` describes them in its types. */
import { globSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { buildSchema, isEnumType, isInputObjectType, isObjectType, parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { query as accounts } from '../../src/plugins/linear/entities/accounts.ts'
import { query as comments } from '../../src/plugins/linear/entities/comments.ts'
import { query as cycles } from '../../src/plugins/linear/entities/cycles.ts'
import { query as issueHistory } from '../../src/plugins/linear/entities/issue-history.ts'
import { queries as issues } from '../../src/plugins/linear/entities/issues.ts'
import { query as states } from '../../src/plugins/linear/entities/workflow-states.ts'
import { checkQuery } from '../../src/plugins/linear/plugin.ts'
import { query as teams } from '../../src/plugins/linear/remote-scopes.ts'
import { sampleQuery } from '../../src/plugins/linear/rule-names.ts'
import { SCHEMA } from './schema.ts'

const home = join(dirname(findPackageJSON('@linear/sdk', import.meta.url) as string), 'dist')
const types = globSync('index-*.d.mts', { cwd: home })
  .map((file) => readFileSync(join(home, file), 'utf8'))
  .join('\n')

/** The names of the members of a type of the SDK; undefined if it has no such type. */
function membersOf(type: string): Set<string> | undefined {
  const start = types.search(new RegExp(`^(?:type|declare enum|enum) ${type} (?:= (?:Node & )?)?\\{`, 'm'))
  if (start < 0) return undefined
  const body = types.slice(start, types.indexOf('\n}', start))
  return new Set([...body.matchAll(/^ {2}([A-Za-z_]+)\??[:,]? ?/gm)].flatMap(([, name]) => name ?? []))
}
const capitalised = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`

const schema = buildSchema(SCHEMA)
const parts = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const objects = parts.filter((type) => isObjectType(type))

describe('the schema of the fake', () => {
  test.each(objects.map((type) => [type.name, type] as const))('has only fields that %s has', (name, type) => {
    const known = membersOf(name)
    expect(known, `type ${name}`).toBeDefined()
    expect(Object.keys(type.getFields()).filter((field) => !known?.has(field))).toEqual([])
  })

  const fields = objects.flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args.length > 0 ? [[`${type.name}${capitalised(field.name)}Args`, field] as const] : [],
    ),
  )
  test.each(fields)('has only arguments of %s', (name, field) => {
    const known = membersOf(name)
    expect(known, name).toBeDefined()
    expect(field.args.map((argument) => argument.name).filter((argument) => !known?.has(argument))).toEqual([])
  })

  test.each(parts.filter((type) => isInputObjectType(type)).map((type) => [type.name, type] as const))(
    'has only inputs of %s',
    (name, type) => {
      const known = membersOf(name)
      expect(Object.keys(type.getFields()).filter((field) => !known?.has(field))).toEqual([])
    },
  )

  test('orders by what Linear orders by', () => {
    const order = schema.getType('PaginationOrderBy')
    expect(isEnumType(order) && order.getValues().map(({ value }) => capitalised(value))).toEqual(
      [...(membersOf('PaginationOrderBy') ?? [])].sort(),
    )
  })
})

test.each([
  ...Object.entries({ accounts, comments, cycles, issueHistory, states, checkQuery, teams, sampleQuery }),
  ...issues.map((query, place) => [`of issues, ${place}`, query] as const),
])('Linear accepts the query %s', (_name, query) => {
  expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([])
})
