/** The vendor's own model, as its client contains it. A fake may answer only with what AWS could answer. */
import { NormalizedSchema } from '@smithy/core/schema'
import type { XmlNode } from './xml.ts'

type Schema = ReturnType<typeof NormalizedSchema.of>

/** Returns the output shape of an operation from the client module that has it. */
const outputOf = (client: object, operation: string): Schema => {
  const schema = (client as Record<string, readonly unknown[] | undefined>)[`${operation}$`]
  if (schema === undefined) throw new Error(`the vendor's model has no operation ${operation}`)
  return NormalizedSchema.of(schema.at(-1) as Parameters<typeof NormalizedSchema.of>[0])
}

/** Required members come first in a shape. The shape says how many there are. */
const requiredIn = (schema: Schema): number => Number((schema.getSchema() as unknown as readonly unknown[])[6] ?? 0)

function* membersOf(schema: Schema): Generator<readonly [string, Schema, boolean]> {
  let index = 0
  const required = requiredIn(schema)
  for (const [name, member] of schema.structIterator()) yield [name, member, index++ < required]
}

const xmlName = (name: string, schema: Schema): string => String(schema.getMergedTraits().xmlName ?? name)

/** Yields the differences between an answer and the shape that the model gives it. */
function* problemsIn(schema: Schema, node: XmlNode, path: string): Generator<string> {
  if (schema.isStructSchema()) {
    const members = [...membersOf(schema)].filter(([, member]) => member.getMergedTraits().httpHeader === undefined)
    const known = new Map(members.map(([name, member]) => [xmlName(name, member), member]))
    for (const child of node.children) {
      const member = known.get(child.name)
      if (member === undefined) yield `${path}.${child.name} is not in the model`
      else yield* problemsIn(member, child, `${path}.${child.name}`)
    }
    for (const [name, member, isRequired] of members)
      if (isRequired && !node.children.some((child) => child.name === xmlName(name, member)))
        yield `${path}.${name} is missing`
  } else if (schema.isListSchema()) {
    const value = schema.getValueSchema()
    const name = xmlName('member', value)
    for (const [index, child] of node.children.entries()) {
      if (child.name !== name) yield `${path}[${index}] is ${child.name} instead of ${name}`
      else yield* problemsIn(value, child, `${path}[${index}]`)
    }
  } else if (node.children.length > 0) yield `${path} has elements instead of text`
  else if (schema.isNumericSchema() && !/^-?\d+(?:\.\d+)?$/.test(node.text)) yield `${path} is no number: ${node.text}`
  else if (schema.isBooleanSchema() && !/^(?:true|false)$/.test(node.text)) yield `${path} is no boolean: ${node.text}`
  else if (schema.isTimestampSchema() && Number.isNaN(Date.parse(node.text))) yield `${path} is no time: ${node.text}`
}

export const xmlProblems = (client: object, operation: string, answer: XmlNode): readonly string[] => [
  ...problemsIn(outputOf(client, operation), answer, operation),
]

/** Checks JSON answers in the same way, after converting them to elements. */
export const jsonProblems = (client: object, operation: string, answer: unknown): readonly string[] => {
  const schema = outputOf(client, operation)
  const nodeOf = (name: string, value: unknown, of: Schema): XmlNode => {
    const empty = { name, children: [] as XmlNode[], text: '' }
    if (Array.isArray(value)) {
      const item = of.isListSchema() ? of.getValueSchema() : of
      return { ...empty, children: value.map((each) => nodeOf('member', each, item)) }
    }
    if (typeof value === 'object' && value !== null) {
      const members = of.isStructSchema() ? of.getMemberSchemas() : {}
      return { ...empty, children: Object.entries(value).map(([key, each]) => nodeOf(key, each, members[key] ?? of)) }
    }
    const isTime = of.isTimestampSchema() && typeof value === 'number'
    return { ...empty, text: isTime ? new Date(value * 1000).toISOString() : String(value) }
  }
  return [...problemsIn(schema, nodeOf(operation, answer, schema), operation)]
}
