import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeGithub, startFakeGithub } from './fake-github.ts'
import { all, get, query } from './testing.ts'

let fake: FakeGithub
beforeAll(async () => {
  fake = await startFakeGithub()
})
afterAll(() => fake.stop())

/** Returns every node of a connection of acme/web. */
async function nodes(connection: string, args: string, selection: string): Promise<any[]> {
  const text = `query ($after: String) { repository(owner: "acme", name: "web") {
    ${connection}(first: 7, after: $after, ${args}) { totalCount pageInfo { hasNextPage endCursor } nodes { ${selection} } } } }`
  const found: any[] = []
  for (let after: string | null = null, more = true; more; ) {
    const { body } = await query(fake, text, { after })
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors))
    const page = body.data.repository[connection]
    found.push(...page.nodes)
    more = page.pageInfo.hasNextPage
    after = page.pageInfo.endCursor
    if (!more) expect(found).toHaveLength(page.totalCount)
  }
  return found
}
const ACTOR = '{ __typename login ... on User { databaseId } ... on Bot { databaseId } }'
const accountOf = (user: any) => (user === null || user.login === 'ghost' ? null : user.id)
const byNumber = (a: { number: number }, b: { number: number }) => a.number - b.number

describe('REST and GraphQL show the same world', () => {
  test('issues', async () => {
    const graphql = await nodes(
      'issues',
      'orderBy: { field: CREATED_AT, direction: DESC }',
      `id databaseId fullDatabaseId number title body state
      url createdAt updatedAt closedAt author ${ACTOR} labels(first: 100) { nodes { id name } } milestone { number }
      assignees(first: 100) { nodes { databaseId } } comments(first: 5) { totalCount nodes { databaseId body } }`,
    )
    const rest = (await all(fake, '/repos/acme/web/issues?state=all&per_page=50')).filter((each) => !each.pull_request)
    const shapeOfRest = rest.map((each) => ({
      id: each.node_id,
      databaseId: each.id,
      number: each.number,
      title: each.title,
      body: each.body ?? '',
      state: each.state.toUpperCase(),
      url: each.html_url,
      times: [each.created_at, each.updated_at, each.closed_at],
      author: accountOf(each.user),
      labels: each.labels.map((label: any) => [label.node_id, label.name]),
      milestone: each.milestone?.number,
      assignees: each.assignees.map(accountOf),
      comments: each.comments,
    }))
    const shapeOfGraphql = graphql.map((each) => ({
      id: each.id,
      databaseId: Number(each.fullDatabaseId),
      number: each.number,
      title: each.title,
      body: each.body,
      state: each.state,
      url: each.url,
      times: [each.createdAt, each.updatedAt, each.closedAt],
      author: each.author?.databaseId ?? null,
      labels: each.labels.nodes.map((label: any) => [label.id, label.name]),
      milestone: each.milestone?.number,
      assignees: each.assignees.nodes.map((user: any) => user.databaseId),
      comments: each.comments.totalCount,
    }))
    expect(shapeOfGraphql.toSorted(byNumber)).toEqual(shapeOfRest.toSorted(byNumber))
    expect(graphql.every((each) => each.databaseId > 2 ** 31)).toBe(true)
    expect(shapeOfRest.some((each) => each.author === null)).toBe(true)
    expect(rest.some((each) => each.body?.length > 50_000)).toBe(true)
  })

  test('pull requests with commits, reviews and requests', async () => {
    const graphql = await nodes(
      'pullRequests',
      'orderBy: { field: UPDATED_AT, direction: ASC }',
      `number fullDatabaseId state merged mergedAt isDraft
      additions deletions changedFiles headRefName headRefOid baseRefName baseRefOid mergeCommit { oid } mergedBy ${ACTOR} author ${ACTOR}
      headRepository { databaseId nameWithOwner } url
      commits(first: 100) { totalCount nodes { commit { oid message additions author { name email date user { databaseId } } } } }
      reviews(first: 100) { nodes { fullDatabaseId state body submittedAt author ${ACTOR} commit { oid } comments(first: 50) { nodes { fullDatabaseId path } } } }
      reviewRequests(first: 10) { nodes { requestedReviewer { ... on User { databaseId } } } }`,
    )
    const list = await all(fake, '/repos/acme/web/pulls?state=all&per_page=50')
    const rest = await Promise.all(
      list.map(async ({ number }) => {
        const path = `/repos/acme/web/pulls/${number}`
        const [pull, commits, reviews, comments] = await Promise.all([
          get(fake, path).then(({ body }) => body),
          all(fake, `${path}/commits`),
          all(fake, `${path}/reviews`),
          all(fake, `${path}/comments`),
        ])
        return {
          number,
          id: pull.id,
          state: pull.merged ? 'MERGED' : pull.state.toUpperCase(),
          merge: [pull.merged_at, pull.merge_commit_sha, accountOf(pull.merged_by)],
          size: [pull.additions, pull.deletions, pull.changed_files],
          head: [pull.head.ref, pull.head.sha, pull.head.repo?.id, pull.head.repo?.full_name],
          base: [pull.base.ref, pull.base.sha],
          author: accountOf(pull.user),
          // Over GraphQL, the author of a commit is a person or null.
          commits: commits.map((each) => [
            each.sha,
            each.commit.message,
            each.commit.author,
            each.author?.type === 'Bot' ? undefined : each.author?.id,
          ]),
          reviews: reviews.map((each) => [
            each.id,
            each.state,
            each.body,
            each.submitted_at,
            accountOf(each.user),
            each.commit_id,
          ]),
          comments: comments.map((each) => [each.id, each.path]),
          requested: pull.requested_reviewers.map(accountOf),
        }
      }),
    )
    const shaped = graphql.map((each) => ({
      number: each.number,
      id: Number(each.fullDatabaseId),
      state: each.state,
      merge: [each.mergedAt, each.mergeCommit?.oid ?? null, each.mergedBy?.databaseId ?? null],
      size: [each.additions, each.deletions, each.changedFiles],
      head: [each.headRefName, each.headRefOid, each.headRepository?.databaseId, each.headRepository?.nameWithOwner],
      base: [each.baseRefName, each.baseRefOid],
      author: each.author?.databaseId ?? null,
      commits: each.commits.nodes.map(
        ({
          commit: {
            oid,
            message,
            author: { user, ...author },
          },
        }: any) => [oid, message, author, user?.databaseId],
      ),
      reviews: each.reviews.nodes.map((review: any) => [
        Number(review.fullDatabaseId),
        review.state,
        review.body,
        review.submittedAt ?? undefined,
        review.author?.databaseId ?? null,
        review.commit.oid,
      ]),
      comments: each.reviews.nodes.flatMap((review: any) =>
        review.comments.nodes.map((comment: any) => [Number(comment.fullDatabaseId), comment.path]),
      ),
      requested: each.reviewRequests.nodes.map((request: any) => request.requestedReviewer.databaseId),
    }))
    expect(shaped.toSorted(byNumber)).toEqual(rest.toSorted(byNumber))
    expect(rest.some((each) => each.author === null)).toBe(true)
    expect(rest.some((each) => each.head[2] === undefined)).toBe(true)
    expect(graphql.some((each) => each.author?.__typename === 'Bot' && !each.author.login.includes('['))).toBe(true)
  })

  test('jobs by check suite, deployments, releases', async () => {
    const run = (await get(fake, '/repos/acme/web/actions/runs')).body.workflow_runs[3]
    const { jobs } = (await get(fake, `/repos/acme/web/actions/runs/${run.id}/jobs`)).body
    const suite = await query(
      fake,
      `query ($id: ID!) { node(id: $id) { ... on CheckSuite { workflowRun { databaseId } checkRuns(first: 20) {
      totalCount nodes { id databaseId name status conclusion startedAt completedAt steps(first: 10) { totalCount } } } } } }`,
      { id: run.check_suite_node_id },
    )
    const { workflowRun, checkRuns } = suite.body.data.node
    expect(workflowRun.databaseId).toBe(run.id)
    expect(
      checkRuns.nodes.map((each: any) => [
        each.id,
        each.databaseId,
        each.name,
        each.status.toLowerCase(),
        each.conclusion?.toLowerCase(),
        each.startedAt,
        each.completedAt,
      ]),
    ).toEqual(
      jobs.map((each: any) => [
        each.node_id,
        each.id,
        each.name,
        each.status,
        each.conclusion,
        each.started_at,
        each.completed_at,
      ]),
    )
    const deployments = await nodes(
      'deployments',
      'orderBy: { field: CREATED_AT, direction: DESC }',
      'databaseId environment commitOid state updatedAt statuses(first: 100) { nodes { state createdAt } }',
    )
    const restDeployments = await all(fake, '/repos/acme/web/deployments')
    expect(deployments.map((each) => [each.databaseId, each.environment, each.commitOid, each.updatedAt])).toEqual(
      restDeployments.map((each) => [each.id, each.environment, each.sha, each.updated_at]),
    )
    const statuses = await all(fake, `/repos/acme/web/deployments/${restDeployments[0].id}/statuses`)
    expect(deployments[0].statuses.nodes.map((each: any) => [each.state.toLowerCase(), each.createdAt])).toEqual(
      statuses.map((each) => [each.state, each.created_at]),
    )
    const releases = await nodes(
      'releases',
      'orderBy: { field: CREATED_AT, direction: DESC }',
      'databaseId tagName isDraft publishedAt tagCommit { oid }',
    )
    expect(releases.map((each) => [each.databaseId, each.tagName, each.isDraft, each.publishedAt])).toEqual(
      (await all(fake, '/repos/acme/web/releases')).map((each) => [
        each.id,
        each.tag_name,
        each.draft,
        each.published_at,
      ]),
    )
  })

  test('people in one batch of aliases, with errors for the unknown', async () => {
    const { body } = await query(
      fake,
      '{ a: user(login: "user-2") { databaseId login email organizations(first: 10) { nodes { login } } } b: user(login: "nobody") { id } }',
    )
    const rest = (await get(fake, '/users/user-2')).body
    const organisations = (await get(fake, '/users/user-2/orgs')).body.map(({ login }: any) => ({ login }))
    expect(body.data).toEqual({
      a: { databaseId: rest.id, login: rest.login, email: rest.email, organizations: { nodes: organisations } },
      b: null,
    })
    expect(body.errors).toMatchObject([
      { type: 'NOT_FOUND', path: ['b'], message: "Could not resolve to a User with the login of 'nobody'." },
    ])
  })
})

test('a search for repositories', async () => {
  const text =
    '{ search(first: 5, type: REPOSITORY, query: "web org:acme") { repositoryCount nodes { ... on Repository { databaseId } } } }'
  const { items, total_count } = (await get(fake, '/search/repositories?q=web+org:acme')).body
  const { search } = (await query(fake, text)).body.data
  expect(search).toEqual({ repositoryCount: total_count, nodes: items.map((each: any) => ({ databaseId: each.id })) })
  expect(total_count).toBe(1)
})

describe('costs', () => {
  test('points and nodes follow GitHub’s published example', async () => {
    const text = `{ rateLimit { cost nodeCount remaining } repository(owner: "acme", name: "web") {
      pullRequests(first: 100) { nodes { reviews(first: 50) { nodes { comments(first: 60) { nodes { id } } } } } } } }`
    const { body, headers } = await query(fake, text)
    // 1 + 100 + 5,000 requests, divided by a hundred. 100 + 5,000 + 300,000 nodes.
    expect(body.data.rateLimit).toMatchObject({ cost: 51, nodeCount: 305_100 })
    expect(headers.get('x-ratelimit-resource')).toBe('graphql')
    expect(Number(headers.get('x-ratelimit-remaining'))).toBe(body.data.rateLimit.remaining)
  })

  test('cursors survive records that come and go', async () => {
    const own = await startFakeGithub()
    const text = `query ($after: String) { repository(owner: "acme", name: "web") {
      issues(first: 10, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) { pageInfo { endCursor } nodes { number } } } }`
    const first = (await query(own, text)).body.data.repository.issues
    const expected = (await query(own, text, { after: first.pageInfo.endCursor })).body.data.repository.issues.nodes
    own.update({ repository: 'acme/web', add: 'issues' })
    own.update({ repository: 'acme/web', remove: 'issues', index: first.nodes.at(-1).number })
    const second = (await query(own, text, { after: first.pageInfo.endCursor })).body.data.repository.issues.nodes
    expect(second).toEqual(expected)
    await own.stop()
  })

  test('nothing above was refused', () => expect(fake.violations).toEqual([]))
})
