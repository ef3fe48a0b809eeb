/** Schemas of connections, scopes and scope configs, from what plugins say about their fields. */

import { z } from 'zod'
import { byName } from '../../basics/by-name.ts'
import { problem } from '../../control-plane/records.ts'
import { shownColumns } from '../../control-plane/shown-columns.ts'
import { publicName } from '../../control-plane/store.ts'
import type { AnyTable, Column } from '../../database/table.ts'
import { FIELD_KINDS } from '../../plugin-kit/spec/field-kinds.ts'
import type { Field, Fields } from '../../plugin-kit/spec/fields.ts'
import { anyText, bounded, example, LONGEST, respell } from '../../plugin-kit/spec/request-values.ts'
import { time } from './common.ts'

const LONGEST_NAME = 255
const anyWhole = z.union([z.number(), z.string()])
const anyFlag = z.union([z.boolean(), z.string(), z.number()])

const describe = (schema: z.ZodType, { label, help, default: standard, suggestion }: Field) => {
  const usual = standard ?? suggestion
  return schema.meta({
    description: help ? `${label}. ${help}` : label,
    ...(usual !== undefined && usual !== null && { examples: [usual] }),
  })
}

/** Schema of a body with these fields. Each may be left out, since changes send only some and forms send others. */
function bodyOf(fields: Fields, base: Record<string, z.ZodType>, whole: Record<string, unknown> = {}) {
  const own = Object.entries(fields).map(([name, field]) => [
    name,
    describe(FIELD_KINDS[field.kind].body(field).nullish(), field),
  ])
  const shape: Record<string, z.ZodType> = byName({ ...base, ...Object.fromEntries(own) })
  const names = Object.keys(shape)
  // DevLake's own forms send fields that the server does not know, so they are not refused here.
  return z.preprocess((value) => respell(names, value ?? {}), z.looseObject(shape).meta(whole))
}
/** Fields that a new record must have. The service reports missing ones, since forms send null for an empty field. */
const needed = (fields: Fields) => [
  'name',
  ...Object.keys(fields).filter((name) => {
    const { isOptional, isManaged, authMethod, default: standard } = fields[name] as Field
    return !isOptional && !isManaged && !authMethod && standard === undefined
  }),
]
const STAND_IN: Partial<Record<Field['kind'], unknown>> = { url: 'https://example.com/rest/', integer: 1 }
/** An example with the default sign-in method, or else the first. */
function exampleOf(fields: Fields): object {
  const login = fields.authMethod?.default ?? fields.authMethod?.choices?.[0]
  const own = Object.entries(fields).flatMap(
    ([name, { kind, isOptional, isManaged, authMethod, default: standard }]) => {
      if (isOptional || isManaged || (authMethod && authMethod !== login)) return []
      return [[name, name === 'authMethod' ? login : (standard ?? STAND_IN[kind] ?? 'something')]]
    },
  )
  return { name: 'main', ...Object.fromEntries(own) }
}
const connectionBase = { name: anyText(LONGEST_NAME).nullish() }
export const connectionBody = (fields: Fields) => bodyOf(fields, connectionBase)
export const newConnection = (fields: Fields) =>
  bodyOf(fields, connectionBase, { required: needed(fields) }).meta(example(exampleOf(fields)))
const scopeConfigBase = { name: anyText(LONGEST_NAME).nullish(), entities: z.array(bounded(LONGEST_NAME)).nullish() }
export const scopeConfigBody = (fields: Fields) => bodyOf(fields, scopeConfigBase)
export const newScopeConfig = (fields: Fields) =>
  bodyOf(fields, scopeConfigBase, { required: ['name'] }).meta(example({ name: 'rules' }))

const answerFields = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, describe(FIELD_KINDS[field.kind].answer, field)]),
  )
const written = { createdAt: time, updatedAt: time }

export const connectionAnswer = (fields: Fields) =>
  z.object({ id: z.int(), name: z.string(), problem, ...written, ...answerFields(fields) })
export const scopeConfigAnswer = (fields: Fields) =>
  z.object({
    id: z.int(),
    connectionId: z.int(),
    name: z.string(),
    entities: z.array(z.string()),
    problem,
    ...written,
    ...answerFields(fields),
  })

/** Text from 2^53 on: most readers would turn the number into another one. */
const anyBigint = z.union([z.int(), z.string().regex(/^-?\d{16,19}$/)])
const SENT_COLUMN: Partial<Record<Column['kind'], z.ZodType>> = {
  timestamp: z.string(),
  date: z.string(),
  boolean: anyFlag,
  integer: anyWhole,
  bigint: anyWhole,
  double: anyWhole,
}
const columnsOf = ({ names, columns }: AnyTable) => names.map((name) => [publicName(name), columns[name]] as const)

export const scopeAnswer = (table: AnyTable) =>
  z.looseObject({ ...shownColumns(table, anyBigint), scopeConfigId: z.int().optional() })
/** The smallest body that creates a scope. */
export const exampleScope = ({ names, columns, keys }: AnyTable, options: readonly string[]): object =>
  Object.fromEntries(
    [...keys.map((place) => names[place] as string), ...options]
      .filter((name) => name !== 'connection_id')
      .map((name) => [publicName(name), SENT_COLUMN[columns[name].kind as Column['kind']] ? 1 : 'example']),
  )
export function scopeBody(table: AnyTable) {
  const shape = Object.fromEntries(
    columnsOf(table)
      .filter(([name]) => !name.startsWith('_') && !['createdAt', 'updatedAt', 'connectionId'].includes(name))
      .map(([name, { kind, size = LONGEST }]) => [
        name,
        (SENT_COLUMN[kind as Column['kind']] ?? anyText(size)).nullish(),
      ]),
  )
  return z.preprocess((value) => respell(Object.keys(shape), value), z.looseObject(shape))
}
