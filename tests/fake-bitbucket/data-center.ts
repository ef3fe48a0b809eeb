/**
 * Bitbucket Data Center over HTTP on loopback, from its public documents:
 * https://developer.atlassian.com/server/bitbucket/rest/. Every request that these documents do not describe is a violation.
 */
import { dice } from '../fake-github/world/dice.ts'
import { serverRoute } from './contract.ts'
import { type Answer, type Asked, type FakeShell, ok, type Route, startShell } from './http.ts'

type Thing = Record<string, any>
export interface FakeServerRepo {
  readonly key: string
  readonly slug: string
  isDeleted: boolean
  isArchived: boolean
  readonly pullRequests: Thing[]
  readonly activities: Map<number, Thing[]>
  readonly commits: Map<number, Thing[]>
}
export interface FakeDataCenter extends FakeShell {
  readonly repos: readonly FakeServerRepo[]
  /** True if the credentials may read nothing. */
  isBlind: boolean
  change(name: ServerChange, repo: FakeServerRepo, number: number): void
}

export const TOKEN = 'http-access-token'
const luck = dice(11)
const USERS = ['ada', 'bob', 'cleo'].map((name, index) => ({
  id: index + 1,
  name,
  slug: name,
  displayName: name.toUpperCase(),
  emailAddress: `${name}@example.com`,
  active: true,
  type: 'NORMAL',
  links: { self: [{ href: `https://bitbucket.example.com/users/${name}` }] },
}))
const someone = (key: number) => luck.pick('someone', USERS, key) as Thing
const error = (_status: number, message: string) => ({ errors: [{ context: null, message, exceptionName: null }] })
const refuse = (status: number, message: string): Answer => ({ status, body: error(status, message) })

function page(all: readonly Thing[], { url }: Asked): Answer {
  const limit = Math.min(100, Number(url.searchParams.get('limit') ?? 25))
  const start = Number(url.searchParams.get('start') ?? 0)
  const values = all.slice(start, start + limit)
  const isLastPage = start + limit >= all.length
  const nextPageStart = isLastPage ? null : start + limit
  return ok({ size: values.length, limit, start, isLastPage, values, nextPageStart })
}

const repoRecord = ({ key, slug, isArchived }: FakeServerRepo): Thing => ({
  id: 1,
  slug,
  name: slug,
  archived: isArchived,
  description: `About ${slug}`,
  project: { key, name: `Project ${key}` },
  links: {
    self: [{ href: `https://bitbucket.example.com/projects/${key}/repos/${slug}/browse` }],
    clone: [
      { name: 'ssh', href: `ssh://git@bitbucket.example.com/${key}/${slug}.git` },
      { name: 'http', href: `https://ada@bitbucket.example.com/scm/${key}/${slug}.git` },
    ],
  },
})

let last = 500
const nextId = () => ++last
const sha = (key: number) => luck.hex('sha', 40, key)

/** The changes that can happen in a repository. */
const CHANGES = {
  open(repo: FakeServerRepo, _number: number, now: number) {
    const id = (repo.pullRequests.at(-1)?.id ?? 0) + 1
    const ref = (name: string) => ({
      id: `refs/heads/${name}`,
      displayId: name,
      latestCommit: sha(id),
      repository: repoRecord(repo),
    })
    repo.pullRequests.push({
      id,
      title: `feat: change ${id}`,
      description: `component/ui ${id}`,
      state: 'OPEN',
      createdDate: now,
      updatedDate: now,
      fromRef: ref(`change-${id}`),
      toRef: ref('main'),
      author: { user: someone(id) },
      reviewers: [{ user: someone(id + 1), role: 'REVIEWER', approved: false, status: 'UNAPPROVED' }],
      participants: [],
      properties: { commentCount: 0 },
      links: { self: [{ href: `https://bitbucket.example.com/${repo.key}/${repo.slug}/pull-requests/${id}` }] },
    })
    CHANGES.push(repo, repo.pullRequests.length - 1, now)
  },
  push(repo: FakeServerRepo, number: number, now: number) {
    const one = openOne(repo, number)
    if (!one) return
    const id = sha(nextId())
    const commit = { id, author: { name: 'Git Name', emailAddress: 'git@example.com' }, authorTimestamp: now }
    repo.commits.set(one.id, [commit, ...(repo.commits.get(one.id) ?? [])])
    Object.assign(one, { updatedDate: now })
    one.fromRef.latestCommit = id
  },
  comment: (repo: FakeServerRepo, number: number, now: number) =>
    act(repo, number, now, 'COMMENTED', (key) => ({
      comment: { id: key, text: `Remark ${key}`, author: someone(key), createdDate: now, comments: [] },
      ...(key % 2 === 0 && { commentAnchor: { path: 'a.ts', line: 1 } }),
    })),
  reply(repo: FakeServerRepo, number: number, now: number) {
    const one = openOne(repo, number)
    const found = one && repo.activities.get(one.id)?.find(({ action }) => action === 'COMMENTED')
    const id = nextId()
    found?.comment.comments.push({ id, text: `Answer ${id}`, author: someone(id), createdDate: now, comments: [] })
  },
  approve: (repo: FakeServerRepo, number: number, now: number) => act(repo, number, now, 'APPROVED'),
  'ask for work': (repo: FakeServerRepo, number: number, now: number) => act(repo, number, now, 'REVIEWED'),
  merge(repo: FakeServerRepo, number: number, now: number) {
    const one = openOne(repo, number)
    if (!one) return
    act(repo, number, now, 'MERGED', (key) => ({ commit: { id: sha(key) } }))
    Object.assign(one, { state: 'MERGED', updatedDate: now, closedDate: now })
  },
  decline(repo: FakeServerRepo, number: number, now: number) {
    const one = openOne(repo, number)
    act(repo, number, now, 'DECLINED')
    if (one) Object.assign(one, { state: 'DECLINED', updatedDate: now, closedDate: now })
  },
  'delete pull request'(repo: FakeServerRepo, number: number) {
    const [gone] = repo.pullRequests.splice(number % Math.max(1, repo.pullRequests.length), 1)
    if (gone) repo.activities.delete(gone.id)
  },
}
export type ServerChange = keyof typeof CHANGES
export const SERVER_CHANGES = Object.keys(CHANGES) as ServerChange[]

function openOne({ pullRequests }: FakeServerRepo, number: number): Thing | undefined {
  const open = pullRequests.filter(({ state }) => state === 'OPEN')
  return open[number % open.length]
}
function act(
  repo: FakeServerRepo,
  number: number,
  now: number,
  action: string,
  more: (key: number) => Thing = () => ({}),
): void {
  const one = openOne(repo, number)
  if (!one) return
  const id = nextId()
  const activity = { id, createdDate: now, user: someone(id), action, ...more(id) }
  repo.activities.set(one.id, [activity, ...(repo.activities.get(one.id) ?? [])])
}

export async function startFakeDataCenter(
  names: readonly (readonly [key: string, slug: string])[],
  { limit }: { readonly limit?: number } = {},
): Promise<FakeDataCenter> {
  last = 500
  const repos = names.map(
    ([key, slug]): FakeServerRepo => ({
      key,
      slug,
      isDeleted: false,
      isArchived: false,
      pullRequests: [],
      activities: new Map(),
      commits: new Map(),
    }),
  )
  const fake = { isBlind: false }
  const paged: ('start' | 'limit')[] = ['start', 'limit']
  const inRepo =
    (answer: (repo: FakeServerRepo, request: Asked, id: number) => Answer) =>
    (request: Asked, key = '', slug = '', id?: string): Answer => {
      const repo = repos.find((each) => each.key === key && each.slug === slug && !each.isDeleted)
      if (!repo) return refuse(404, `Repository ${key}/${slug} does not exist.`)
      if (id && !repo.pullRequests.some((each) => each.id === Number(id))) return refuse(404, 'No such pull request')
      return answer(repo, request, Number(id))
    }
  const keys = [...new Set(repos.map(({ key }) => key))]
  const routes: Route[] = [
    serverRoute('/api/latest/projects', paged, (request) =>
      page(fake.isBlind ? [] : keys.map((key) => ({ key, name: `Project ${key}` })), request),
    ),
    serverRoute('/api/latest/projects/{projectKey}/repos', paged, (request, key) =>
      page(repos.filter((each) => each.key === key).map(repoRecord), request),
    ),
    serverRoute('/api/latest/repos', [...paged, 'name', 'permission'], (request) => {
      const part = request.url.searchParams.get('name') ?? ''
      return page(fake.isBlind ? [] : repos.filter(({ slug }) => slug.includes(part)).map(repoRecord), request)
    }),
    serverRoute(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}',
      [],
      inRepo((repo) => ok(repoRecord(repo))),
    ),
    serverRoute(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/pull-requests',
      [...paged, 'state', 'order'],
      inRepo((repo, request) => page([...repo.pullRequests].reverse(), request)),
    ),
    serverRoute(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/pull-requests/{pullRequestId}/activities',
      paged,
      inRepo((repo, request, id) => page(repo.activities.get(id) ?? [], request)),
    ),
    serverRoute(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/pull-requests/{pullRequestId}/commits',
      paged,
      inRepo((repo, request, id) => page(repo.commits.get(id) ?? [], request)),
    ),
  ]
  const shell = await startShell('/rest/api/1.0', routes, {
    login: `Bearer ${TOKEN}`,
    unknown: error,
    ...(limit !== undefined && { limit }),
  })
  return Object.assign(fake, shell, {
    repos,
    change: (name: ServerChange, repo: FakeServerRepo, number: number) =>
      CHANGES[name](repo, number, Math.floor(shell.clock.now())),
  })
}
