import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { githubDescription } from './contract.ts'
import { type FakeGithub, startFakeGithub } from './fake-github.ts'
import { get } from './testing.ts'

const REPOSITORY = '/repos/acme/web'
const description = githubDescription()
let fake: FakeGithub
let validatorOf: (template: string) => ValidateFunction

beforeAll(async () => {
  fake = await startFakeGithub()
  const ajv = new Ajv({ strict: false, allErrors: true })
  ;(addFormats as any)(ajv)
  tighten(description)
  // GitHub sends null for a deleted fork, although its description excludes null.
  for (const name of ['pull-request-simple', 'pull-request']) {
    const head = description.components.schemas[name].properties.head.properties
    head.repo = { anyOf: [head.repo, { type: 'null' }] }
  }
  ajv.addSchema(description, 'github')
  validatorOf = (template) => {
    const path = template.replaceAll('~', '~0').replaceAll('/', '~1')
    return ajv.compile({
      $ref: `github#/paths/${encodeURIComponent(path)}/get/responses/200/content/application~1json/schema`,
    })
  }
})
afterAll(() => fake.stop())

/** Tightens a schema: objects may have only described fields, so that misspelt ones are found, and nullable is read as GitHub means it. */
function tighten(schema: any): void {
  if (typeof schema !== 'object' || schema === null) return
  const isPlain =
    schema.type === 'object' && schema.properties !== undefined && !schema.allOf && !schema.oneOf && !schema.anyOf
  if (isPlain && schema.additionalProperties === undefined) schema.additionalProperties = false
  // Described as nullable. In OpenAPI 3.0 that counts only if the enum also contains null.
  if (schema.nullable === true && Array.isArray(schema.enum)) schema.enum.push(null)
  for (const part of Object.values(schema)) tighten(part)
  if (schema.nullable === true && schema.type === undefined) {
    const { nullable, ...rest } = schema
    for (const key of Object.keys(schema)) delete schema[key]
    schema.anyOf = [rest, { type: 'null' }]
  }
}

const first = <T>(items: Iterable<T>): T => [...items][0]!

describe('answers have the shapes of GitHub’s description', () => {
  const plain = [
    '/',
    '/rate_limit',
    '/user',
    '/user/orgs',
    '/user/repos',
    '/orgs/{org}',
    '/orgs/{org}/repos',
    '/users/{username}',
    '/users/{username}/orgs',
    '/search/repositories',
    '/repos/{owner}/{repo}',
    'issues',
    'issues/{issue_number}',
    'issues/{issue_number}/comments',
    'issues/comments',
    'issues/events',
    'labels',
    'assignees',
    'milestones',
    'pulls',
    'pulls/{pull_number}',
    'pulls/{pull_number}/commits',
    'pulls/{pull_number}/reviews',
    'pulls/{pull_number}/comments',
    'pulls/{pull_number}/requested_reviewers',
    'pulls/comments',
    'actions/runs',
    'actions/runs/{run_id}',
    'actions/runs/{run_id}/jobs',
    'deployments',
    'deployments/{deployment_id}/statuses',
    'releases',
    'tags',
    'branches',
    'commits',
    'commits/{ref}',
    'compare/{basehead}',
  ].map((path) => (path.startsWith('/') ? path : `/repos/{owner}/{repo}/${path}`))

  const QUERIES: Record<string, string> = { '/search/repositories': 'q=acme', '/user/repos': 'per_page=100' }
  const ALL_STATES = ['issues', 'pulls', 'milestones'].map((name) => `/repos/{owner}/{repo}/${name}`)

  test.each(plain)('GET %s', async (template) => {
    const repository = fake.world.repository('acme/web')
    const path = template
      .replace('{owner}/{repo}', 'acme/web')
      .replace('{org}', 'acme')
      .replace('{username}', 'user-2')
      .replace('{issue_number}', String(first(repository.comments).number))
      .replace('{pull_number}', String(first(repository.reviewComments).number))
      .replace('{run_id}', String(first(repository.runs).id))
      .replace('{deployment_id}', String(repository.deployments.get(first(repository.statuses).deploymentIndex)!.id))
      .replace('{ref}', first(repository.commits).sha)
      .replace('{basehead}', `${first(repository.pullRequests).baseSha}...${first(repository.pullRequests).headSha}`)
    const isList = description.paths[template].get.parameters?.some((each: any) => each.$ref?.endsWith('/per-page'))
    const query =
      QUERIES[template] ??
      [ALL_STATES.includes(template) && 'state=all', isList && 'per_page=100'].filter(Boolean).join('&')
    const { status, body } = await get(fake, `${path}?${query}`)
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200)
    if (Array.isArray(body)) expect(body.length).toBeGreaterThan(0)
    const validate = validatorOf(template)
    validate(body)
    expect(
      [
        ...new Set(
          validate.errors?.map((each) => `${each.instancePath} ${each.message} ${JSON.stringify(each.params)}`),
        ),
      ].slice(0, 5),
    ).toEqual([])
  })

  test('a missing, a misspelt and a wrongly typed field are found', async () => {
    const validate = validatorOf('/repos/{owner}/{repo}/issues')
    const { body } = await get(fake, `${REPOSITORY}/issues?state=all`)
    const { number, ...rest } = body[0]
    for (const broken of [rest, { ...rest, number: '1' }, { ...rest, number, createdAt: 'x' }])
      expect(validate([broken])).toBe(false)
    expect(validate([{ ...rest, number }])).toBe(true)
  })
})
