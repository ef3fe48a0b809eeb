/** GitHub must accept every query, so each is checked against its public schema. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { buildSchema, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { profilesQuery } from './accounts.ts'
import * as deployments from './deployments.ts'
import * as issues from './issues.ts'
import * as jobs from './jobs.ts'
import * as pullRequests from './pull-requests.ts'
import * as releases from './releases.ts'

const home = findPackageJSON('@octokit/graphql-schema', import.meta.url) as string
const schema = buildSchema(readFileSync(join(home, '../schema.graphql'), 'utf8'), { assumeValidSDL: true })

const queries: Record<string, string> = {
  issues: issues.query,
  'pull requests': pullRequests.query,
  deployments: deployments.query,
  'some deployments': deployments.someQuery,
  jobs: jobs.query,
  releases: releases.query,
  'ids of issues': issues.queries[0]!,
  'some issues': issues.queries[1]!,
  'ids of pull requests': pullRequests.queries[0]!,
  'some pull requests': pullRequests.queries[1]!,
  'one profile': profilesQuery(1),
  '100 profiles': profilesQuery(100),
  ...Object.fromEntries(
    [...pullRequests.completions, ...deployments.completions, ...jobs.completions].map(({ query }, position) => [
      `rest of list ${position + 1}`,
      query,
    ]),
  ),
}

test.each(Object.entries(queries))('GitHub accepts the query for %s', (_name, query) => {
  expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([])
})
