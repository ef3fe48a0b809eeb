import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { buildSchema, type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'

let schema: GraphQLSchema | undefined

/** GitHub's public schema. It is built at the first GraphQL request, because that takes a quarter of a second. */
export function githubSchema(): GraphQLSchema {
  if (schema !== undefined) return schema
  const text = readFileSync(
    join(findPackageJSON('@octokit/graphql-schema', import.meta.url)!, '../schema.graphql'),
    'utf8',
  )
  // GitHub sends a databaseId of more than 32 bits, although GraphQL's Int does not allow it.
  const widened = text.replaceAll(/\bdatabaseId: Int\b(?!!)/g, 'databaseId: WideInt')
  schema = buildSchema(`${widened}\nscalar WideInt`, { assumeValidSDL: true })
  return schema
}

const DOCUMENTS_KEPT = 200
const documents = new Map<string, DocumentNode | readonly GraphQLError[]>()

/** Returns the parsed query, or the errors for which GitHub would refuse it. */
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
