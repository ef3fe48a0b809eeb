/**
 * Bitbucket Cloud over HTTP on loopback, from its public documents: https://developer.atlassian.com/cloud/bitbucket/rest/.
 * Every request that these documents do not describe is a violation.
 */
import { type CloudWorld, createCloudWorld, type FakeRepo, PEOPLE, type Thing } from './cloud-world.ts'
import { type CloudPath, type CloudQuery, cloudRoute } from './contract.ts'
import { type Answer, type Asked, type FakeShell, ok, type Route, startShell } from './http.ts'

export const LOGIN = { username: 'ada@example.com', password: 'api-token' }
export const loginOf = ({ username, password }: typeof LOGIN) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

export interface FakeCloud extends FakeShell {
  readonly world: CloudWorld
  /** Scopes that the token lacks. */
  readonly missing: Set<string>
  /** True if the lists over all workspaces no longer exist. */
  isNew: boolean
}

const PAGES: ('page' | 'pagelen')[] = ['page', 'pagelen']
const REPOSITORY = '/repositories/{workspace}/{repo_slug}'
type RestQuery<Rest extends string> = CloudQuery<Extract<CloudPath, `${typeof REPOSITORY}${Rest}`>>
const error = (_status: number, message: string) => ({ type: 'error', error: { message } })
const refuse = (status: number, message: string): Answer => ({ status, body: error(status, message) })

function page(all: readonly Thing[], { url }: Asked, most: number): Answer {
  const size = Number(url.searchParams.get('pagelen') ?? 10)
  if (size > most) return refuse(400, 'Invalid pagelen')
  const number = Number(url.searchParams.get('page') ?? 1)
  const next = new URL(url)
  next.searchParams.set('page', String(number + 1))
  const values = all.slice((number - 1) * size, number * size)
  const hasNext = number * size < all.length
  return ok({ size: all.length, page: number, pagelen: size, values, ...(hasNext && { next: next.href }) })
}

/** Filters by `q=updated_on >= …` and sorts by `sort=-updated_on`. */
function asked(all: readonly Thing[], { url }: Asked): Thing[] {
  const since = /^updated_on >= (\S+)$/.exec(url.searchParams.get('q') ?? '')?.[1]
  const found = since ? all.filter(({ updated_on }) => Date.parse(updated_on) >= Date.parse(since)) : [...all]
  const sort = url.searchParams.get('sort')?.replace(/^-/, '')
  return sort ? found.sort((one, other) => Date.parse(other[sort]) - Date.parse(one[sort])) : found
}

const repoRecord = (repo: FakeRepo): Thing => ({
  type: 'repository',
  uuid: `{${repo.fullName}}`,
  full_name: repo.renamedTo ?? repo.fullName,
  name: repo.fullName.split('/')[1],
  slug: repo.fullName.split('/')[1],
  description: '',
  language: 'go',
  has_issues: repo.hasIssues,
  is_archived: repo.isArchived,
  created_on: '2023-01-01T00:00:00Z',
  updated_on: '2023-01-01T00:00:00Z',
  owner: { display_name: 'Acme' },
  links: {
    html: { href: `https://bitbucket.org/${repo.fullName}` },
    clone: [{ name: 'https', href: `https://ada@bitbucket.org/${repo.fullName}.git` }],
  },
})

/** Returns a pull request as in lists: without fields that must be requested, and with shortened commit ids. */
function listed(pullRequest: Thing, { url }: Asked): Thing {
  const fields = url.searchParams.get('fields') ?? ''
  const { participants, merge_commit, ...rest } = pullRequest
  return {
    ...rest,
    ...(fields.includes('+values.participants') && { participants }),
    merge_commit: merge_commit && {
      hash: merge_commit.hash.slice(0, 12),
      ...(fields.includes('+values.merge_commit.date') && { date: merge_commit.date }),
    },
  }
}

export async function startFakeCloud(
  names: readonly string[],
  { limit }: { readonly limit?: number } = {},
): Promise<FakeCloud> {
  const world = createCloudWorld(names)
  const missing = new Set<string>()
  const fake = { isNew: false }
  const lacks = (right: string): Answer => ({
    status: 403,
    body: {
      type: 'error',
      error: { message: 'Your credentials lack required scopes.', detail: { required: [right], granted: [] } },
    },
  })
  const inRepo = <Rest extends string>(
    rest: `${typeof REPOSITORY}${Rest}` extends CloudPath ? Rest : never,
    { right, parameters = [] }: { right: string; parameters?: RestQuery<Rest>[] },
    answer: (repo: FakeRepo, request: Asked, ...parts: string[]) => Answer,
  ): Route =>
    cloudRoute(
      `${REPOSITORY}${rest}` as CloudPath,
      [...PAGES, ...(parameters as typeof PAGES)],
      (request, workspace, slug, ...parts) => {
        const name = `${workspace}/${slug}`
        const repo = world.repos.find(({ fullName, isDeleted }) => fullName === name && !isDeleted)
        if (!repo) return refuse(404, `Repository ${name} not found`)
        return missing.has(right) ? lacks(right) : answer(repo, request, ...parts)
      },
    )
  /** A route that exists only while Pipelines are switched on. */
  const inCi: typeof inRepo = (rest, how, answer) =>
    inRepo(rest, how, (repo, ...asked) =>
      repo.hasPipelines ? answer(repo, ...asked) : refuse(404, 'Pipelines are not enabled.'),
    )
  const workspaces = [...new Set(names.map((name) => name.split('/')[0] as string))].sort()
  const workspaceList = (request: Asked) =>
    missing.has('read:workspace:bitbucket')
      ? lacks('read:workspace:bitbucket')
      : page(
          workspaces.map((slug) => ({ workspace: { slug, name: slug } })),
          request,
          100,
        )
  const [pr, ci, tickets] = ['read:pullrequest:bitbucket', 'read:pipeline:bitbucket', 'read:issue:bitbucket'] as const
  const reposIn = (request: Asked, where: (repo: FakeRepo) => boolean) => {
    const text = /~ "(.*)"/.exec(request.url.searchParams.get('q') ?? '')?.[1] ?? ''
    return page(world.repos.filter((each) => where(each) && each.fullName.includes(text)).map(repoRecord), request, 100)
  }
  const routes: Route[] = [
    cloudRoute('/user', [], () => ok(PEOPLE[0])),
    cloudRoute('/user/permissions/workspaces', [...PAGES, 'sort'], (request) =>
      fake.isNew ? refuse(410, 'Gone') : workspaceList(request),
    ),
    // Newer than the description: https://developer.atlassian.com/cloud/bitbucket/changelog/.
    { form: /^\/user\/workspaces$/, parameters: PAGES, answer: workspaceList },
    cloudRoute('/repositories', [...PAGES, 'q', 'sort', 'role'], (request) =>
      fake.isNew ? refuse(410, 'Gone') : reposIn(request, () => true),
    ),
    cloudRoute('/repositories/{workspace}', [...PAGES, 'q', 'sort'], (request, slug) =>
      reposIn(request, ({ fullName }) => fullName.startsWith(`${slug}/`)),
    ),
    inRepo('', { right: 'read:repository:bitbucket' }, (repo) => ok(repoRecord(repo))),
    inRepo('/pullrequests', { right: pr, parameters: ['state', 'fields', 'sort', 'q'] }, (repo, request) => {
      const states = request.url.searchParams.getAll('state')
      const found = asked(repo.pullRequests, request).filter(({ state }) => states.includes(state))
      return page(
        found.map((one) => listed(one, request)),
        request,
        50,
      )
    }),
    inRepo('/pullrequests/{pull_request_id}/comments', { right: pr }, (repo, request, id) =>
      page(repo.comments.get(`pullrequest ${id}`) ?? [], request, 100),
    ),
    inRepo('/pullrequests/{pull_request_id}/commits', { right: pr }, (repo, request, id) =>
      page(repo.commits.get(Number(id)) ?? [], request, 100),
    ),
    inRepo('/commit/{commit}', { right: 'read:repository:bitbucket' }, (repo, _request, hash = '') => {
      const merged = repo.pullRequests.find(({ merge_commit }) => merge_commit?.hash.startsWith(hash))
      return merged ? ok({ type: 'commit', ...merged.merge_commit }) : refuse(404, 'Commit not found')
    }),
    inRepo('/issues', { right: tickets, parameters: ['sort', 'q'] }, (repo, request) =>
      repo.hasIssues
        ? page(asked(repo.issues, request), request, 100)
        : refuse(404, 'Repository has no issue tracker.'),
    ),
    inRepo('/issues/{issue_id}/comments', { right: tickets }, (repo, request, id) =>
      repo.hasIssues
        ? page(repo.comments.get(`issue ${id}`) ?? [], request, 100)
        : refuse(404, 'Repository has no issue tracker.'),
    ),
    inCi('/pipelines', { right: ci, parameters: ['sort'] }, (repo, request) =>
      page(asked(repo.pipelines, request), request, 100),
    ),
    inCi('/pipelines/{pipeline_uuid}', { right: ci }, (repo, _request, id) => {
      const found = repo.pipelines.find(({ uuid }) => uuid === id)
      return found ? ok(found) : refuse(404, 'Pipeline not found')
    }),
    inCi('/pipelines/{pipeline_uuid}/steps', { right: ci }, (repo, request, id = '') =>
      page(repo.steps.get(id) ?? [], request, 100),
    ),
    inCi('/environments', { right: ci }, (repo, request) => page(repo.environments, request, 100)),
    inCi('/deployments', { right: ci }, (repo, request) => page(repo.deployments, request, 100)),
  ]
  const shell = await startShell('/2.0', routes, {
    login: loginOf(LOGIN),
    unknown: error,
    ...(limit !== undefined && { limit }),
  })
  return Object.assign(fake, shell, { world, missing, url: `${shell.url}2.0/` })
}
