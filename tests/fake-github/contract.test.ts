import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeGithub, startFakeGithub } from './fake-github.ts'
import { get, query } from './testing.ts'

let fake: FakeGithub
beforeEach(async () => {
  fake = await startFakeGithub()
})
afterEach(() => fake.stop())

describe('REST requests that GitHub does not describe are refused and recorded', () => {
  const refused: [path: string, problem: string][] = [
    ['/repos/acme/web/issue', "GitHub's REST description has no GET /repos/acme/web/issue"],
    [
      '/repos/acme/web/pulls/1/commits?state=all',
      'unknown query parameter "state" for GET /repos/{owner}/{repo}/pulls/{pull_number}/commits',
    ],
    ['/repos/acme/web/issues?state=everything', '"everything" is not one of open, closed, all'],
    ['/repos/acme/web/issues?per_page=101', '101 is not between 1 and 100'],
    ['/repos/acme/web/issues?page=0', '0 is not a page number'],
    ['/repos/acme/web/issues?page=two', '"two" is not an integer'],
    ['/repos/acme/web/issues?since=yesterday', '"yesterday" is not a date-time'],
    ['/repos/acme/web/issues?page=1&page=2', '"page" of GET /repos/{owner}/{repo}/issues is given twice'],
    ['/repos/acme/web/actions/runs?created=2024', '"2024" is not a date range'],
    ['/repos/acme/web/pulls/last', 'path parameter pull_number'],
    ['/search/repositories', 'query parameter "q" of GET /search/repositories is missing'],
  ]
  test.each(refused)('GET %s', async (path, problem) => {
    const { status, body } = await get(fake, path)
    expect(status).toBe(400)
    expect(body.message).toContain(problem)
    expect(fake.violations).toEqual([{ request: `GET ${path}`, problem: body.message }])
  })

  test('a method that the path does not have', async () => {
    const response = await fetch(`${fake.url}/repos/acme/web/releases`, {
      method: 'PUT',
      headers: { 'user-agent': 'x' },
    })
    expect(response.status).toBe(400)
    expect(fake.violations[0]?.problem).toContain('no PUT /repos/acme/web/releases')
  })

  test('headers: user agent, API version, accepted type', async () => {
    for (const headers of [{ 'user-agent': '' }, { 'x-github-api-version': '2020-01-01' }, { accept: 'text/html' }])
      expect((await get(fake, '/user', headers)).status).toBe(400)
    expect(fake.violations).toHaveLength(3)
    expect(
      (await get(fake, '/user', { 'x-github-api-version': '2022-11-28', accept: 'application/vnd.github+json' }))
        .status,
    ).toBe(200)
  })

  test('what GitHub has but the fake does not serve is recorded, never invented', async () => {
    expect((await get(fake, '/repos/acme/web/hooks')).status).toBe(501)
    expect((await get(fake, '/repos/acme/web/issues?mentioned=user-1')).body.message).toContain(
      'does not honour query parameter "mentioned"',
    )
    expect(fake.violations).toHaveLength(2)
  })

  test('good requests leave no trace', async () => {
    const range = encodeURIComponent('2023-01-01T00:00:00Z..2023-06-01T00:00:00Z')
    for (const path of [
      '/repos/acme/web/issues?state=all&since=2023-01-01T00:00:00Z&sort=updated&direction=asc&per_page=100&page=1',
      `/repos/acme/web/actions/runs?created=${range}`,
      '/api/v3/repos/acme/web/pulls?state=closed',
    ])
      expect((await get(fake, path)).status).toBe(200)
    expect(fake.violations).toEqual([])
  })
})

describe('GraphQL queries that GitHub would refuse are refused and recorded', () => {
  const repository = (selection: string) => `{ repository(owner: "acme", name: "web") { ${selection} } }`
  const refused: [name: string, text: string, problem: string, type?: string][] = [
    ['syntax', '{ repository', 'Syntax Error'],
    ['unknown field', repository('colour'), 'Cannot query field "colour" on type "Repository"'],
    ['unknown argument', repository('issues(first: 1, newest: true) { totalCount }'), 'Unknown argument "newest"'],
    ['wrong enumeration', repository('issues(first: 1, states: [GONE]) { totalCount }'), 'GONE'],
    ['missing selection', repository('owner'), 'must have a selection'],
    [
      'no page size',
      repository('issues { nodes { number } }'),
      'You must provide a `first` or `last` value to properly paginate the `issues` connection.',
      'MISSING_PAGINATION_BOUNDARIES',
    ],
    [
      'page too large',
      repository('issues(first: 101) { nodes { number } }'),
      'Requesting 101 records on the `issues` connection exceeds the `first` limit of 100 records.',
      'EXCESSIVE_PAGINATION',
    ],
    [
      'too many nodes',
      repository(
        'pullRequests(first: 100) { nodes { reviews(first: 100) { nodes { comments(first: 100) { nodes { id } } } } } }',
      ),
      'This query requests up to 1,010,100 possible nodes which exceeds the maximum limit of 500,000.',
      'MAX_NODE_LIMIT_EXCEEDED',
    ],
  ]
  test.each(refused)('%s', async (_name, text, problem, type) => {
    const { status, body } = await query(fake, text)
    expect(status).toBe(200)
    expect(body.data).toBeUndefined()
    expect(body.errors[0].message).toContain(problem)
    expect(body.errors[0].type).toBe(type)
    expect(fake.violations[0]?.problem).toContain(problem)
  })

  test('variables of the wrong type, and page sizes in variables', async () => {
    const text =
      'query ($n: Int!) { repository(owner: "acme", name: "web") { issues(first: $n) { nodes { number } } } }'
    expect((await query(fake, text, { n: 'ten' })).body.errors[0].message).toContain('$n')
    expect((await query(fake, text, { n: 500 })).body.errors[0].type).toBe('EXCESSIVE_PAGINATION')
    expect(fake.violations).toHaveLength(2)
    expect((await query(fake, text, { n: 5 })).body.data.repository.issues.nodes).toHaveLength(5)
    expect(fake.violations).toHaveLength(2)
  })

  test('a field that GitHub has but the fake does not is recorded', async () => {
    await query(fake, repository('issues(first: 1) { nodes { isPinned } }'))
    expect(fake.violations[0]?.problem).toBe('The fake GitHub does not serve Issue.isPinned')
  })

  test('a total needs no page size', async () => {
    expect((await query(fake, repository('issues { totalCount }'))).body.data.repository.issues.totalCount).toBe(40)
    expect(fake.violations).toEqual([])
  })
})
