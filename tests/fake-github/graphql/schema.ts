import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { buildSchema, type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'

let schema: GraphQLSchema | undefined

/** GitHub's public schema. Built at the first GraphQL request, since it takes a quarter of a second. */
export function githubSchema(): GraphQLSchema {
  if (schema !== undefined) return schema
  const text = readFileSync(
    join(findPackageJSON('@octokit/graphql-schema', import.meta.url)!, '../schema.graphql'),
    'utf8',
  )
  // GitHub sends databaseId beyond 32 bits, though GraphQL's Int ends there.
  const widened = text.replaceAll(/\bdatabaseId: Int\b(?!!)/g, 'databaseId: WideInt')
  schema = buildSchema(`${widened}\nscalar WideInt`, { assumeValidSDL: true })
  return schema
}

const DOCUMENTS_KEPT = 200
const documents = new Map<string, DocumentNode | readonly GraphQLError[]>()

/** The parsed query, or what GitHub would refuse it for. */
export function checkedDocument(query: string): DocumentNode | readonly GraphQLError[] {
  const known = documents.get(query)
  if (known !== undefined) return known
  const checked = check(query)
  if (documents.size >= DOCUMENTS_KEPT) documents.clear()
  documents.set(query, checked)
  return checked
}

function check(query: string): DocumentNode | readonly GraphQLError[] {
  try {
    const document = parse(query)
    const errors = validate(githubSchema(), document)
    return errors.length === 0 ? document : errors
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}
