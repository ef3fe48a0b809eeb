/** Repositories of Bitbucket Cloud and the changes to them, in the words of its API. */
import { dice } from '../fake-github/world/dice.ts'

export type Thing = Record<string, any>
export interface FakeRepo {
  fullName: string
  hasIssues: boolean
  hasPipelines: boolean
  isArchived: boolean
  isDeleted: boolean
  /** The new name, if the repository was renamed. */
  renamedTo: string | null
  readonly pullRequests: Thing[]
  readonly commits: Map<number, Thing[]>
  readonly comments: Map<string, Thing[]>
  readonly issues: Thing[]
  readonly pipelines: Thing[]
  readonly steps: Map<string, Thing[]>
  readonly environments: Thing[]
  readonly deployments: Thing[]
}

const luck = dice(7)
const STEPS = ['build', 'deploy to staging', 'deploy to production']
export const PEOPLE = ['Ada', 'Bob', 'Cleo'].map((name, index) => ({
  type: 'user',
  uuid: `{user-${index + 1}}`,
  account_id: `account-${index + 1}`,
  display_name: name,
  nickname: name.toLowerCase(),
  links: { avatar: { href: `https://example.com/${name}.png` }, html: { href: `https://bitbucket.org/${name}` } },
}))
const someone = (key: number) => luck.pick('someone', PEOPLE, key) as Thing

export function createCloudWorld(names: readonly string[]) {
  let last = 100
  const nextId = () => ++last
  const repos = names.map(
    (fullName): FakeRepo => ({
      fullName,
      hasIssues: true,
      hasPipelines: true,
      isArchived: false,
      isDeleted: false,
      renamedTo: null,
      pullRequests: [],
      commits: new Map(),
      comments: new Map(),
      issues: [],
      pipelines: [],
      steps: new Map(),
      environments: ['Test', 'Staging', 'Production'].map((name) => ({
        uuid: `{${fullName}-${name}}`,
        name: name === 'Production' ? 'eu-live' : name.toLowerCase(),
        environment_type: { name },
      })),
      deployments: [],
    }),
  )
  const place = ({ fullName }: FakeRepo) => ({
    full_name: fullName,
    links: { html: { href: `https://bitbucket.org/${fullName}` } },
  })
  const sha = (key: number) => luck.hex('sha', 40, key)

  const make = {
    commit(repo: FakeRepo, of: Thing, at: string) {
      const key = nextId()
      const person = someone(key)
      const commit = {
        type: 'commit',
        hash: sha(key),
        date: at,
        message: `Change ${key}`,
        author: { raw: `${person.display_name} <${person.nickname}@example.com>`, user: person },
      }
      repo.commits.set(of.id, [commit, ...(repo.commits.get(of.id) ?? [])])
      of.source.commit = { hash: commit.hash.slice(0, 12) }
      of.updated_on = at
    },
    pullRequest(repo: FakeRepo, at: string): Thing {
      const id = repo.pullRequests.length + 1
      const made: Thing = {
        type: 'pullrequest',
        id,
        title: `Change ${id}`,
        description: `About ${id}`,
        state: 'OPEN',
        author: someone(id),
        closed_by: null,
        merge_commit: null,
        comment_count: 0,
        created_on: at,
        updated_on: at,
        source: { branch: { name: `change-${id}` }, repository: place(repo), commit: null },
        destination: { branch: { name: 'main' }, repository: place(repo), commit: { hash: sha(1).slice(0, 12) } },
        links: { html: { href: `https://bitbucket.org/${repo.fullName}/pull-requests/${id}` } },
        participants: [
          { user: someone(id + 1), role: 'REVIEWER', approved: false, state: null, participated_on: null },
        ],
      }
      repo.pullRequests.push(made)
      make.commit(repo, made, at)
      return made
    },
    comment(repo: FakeRepo, kind: 'pullrequest' | 'issue', of: Thing, at: string) {
      const id = nextId()
      const key = `${kind} ${of.id}`
      const comment = {
        type: `${kind}_comment`,
        id,
        content: { raw: `Remark ${id}` },
        user: someone(id),
        created_on: at,
        updated_on: at,
        [kind]: { id: of.id },
      }
      repo.comments.set(key, [...(repo.comments.get(key) ?? []), comment])
      of.updated_on = at
    },
    issue(repo: FakeRepo, at: string): Thing {
      const id = (repo.issues.at(-1)?.id ?? 0) + 1
      const made = {
        type: 'issue',
        id,
        title: `Issue ${id}`,
        content: { raw: `About ${id}` },
        state: 'new',
        kind: 'bug',
        priority: 'major',
        reporter: someone(id),
        assignee: id % 2 ? someone(id + 1) : null,
        component: null,
        milestone: null,
        created_on: at,
        updated_on: at,
        links: { self: { href: `https://api.bitbucket.org/2.0/repositories/${repo.fullName}/issues/${id}` } },
      }
      repo.issues.push(made)
      return made
    },
    pipeline(repo: FakeRepo, at: string): Thing {
      const number = repo.pipelines.length + 1
      const uuid = `{pipeline-${nextId()}}`
      const made = {
        type: 'pipeline',
        uuid,
        build_number: number,
        state: { name: 'IN_PROGRESS', stage: { name: 'RUNNING' } },
        created_on: at,
        completed_on: null,
        duration_in_seconds: 0,
        target: { ref_name: luck.pick('ref', ['main', 'release'], number), commit: { hash: sha(number + 10_000) } },
        links: { self: { href: `https://api.bitbucket.org/pipelines/${uuid}` } },
      }
      repo.pipelines.unshift(made)
      repo.steps.set(
        uuid,
        STEPS.map((name, index) => ({
          type: 'pipeline_step',
          uuid: `{step-${uuid.slice(1, -1)}-${index}}`,
          name,
          pipeline: { uuid },
          state: { name: 'PENDING' },
          started_on: null,
          completed_on: null,
          duration_in_seconds: 0,
          maxTime: 120,
          build_seconds_used: 0,
          run_number: 1,
          trigger: { type: 'pipeline_step_trigger_automatic' },
        })),
      )
      return made
    },
    finish(repo: FakeRepo, pipeline: Thing, result: string, at: string) {
      Object.assign(pipeline, { state: { name: 'COMPLETED', result: { name: result } }, completed_on: at })
      for (const step of repo.steps.get(pipeline.uuid) ?? []) {
        Object.assign(step, { state: pipeline.state, started_on: pipeline.created_on, completed_on: at })
        Object.assign(step, { duration_in_seconds: 60 })
      }
    },
    deployment(repo: FakeRepo, pipeline: Thing, at: string) {
      const number = repo.deployments.length + 1
      const environment = luck.pick('environment', repo.environments, number) as Thing
      repo.deployments.push({
        type: 'deployment',
        uuid: `{deployment-${nextId()}}`,
        environment: { uuid: environment.uuid },
        state: { name: 'COMPLETED', status: { name: 'SUCCESSFUL' }, started_on: at, completed_on: at },
        step: { uuid: repo.steps.get(pipeline.uuid)?.[2]?.uuid },
        release: {
          name: `#${number}`,
          key: `release-${number}`,
          pipeline: { uuid: pipeline.uuid },
          created_on: at,
          commit: { hash: pipeline.target.commit.hash.slice(0, 12) },
          url: `https://bitbucket.org/d/${number}`,
        },
        last_update_time: at,
      })
    },
  }
  return { repos, make, sha }
}
export type CloudWorld = ReturnType<typeof createCloudWorld>

type Change = (world: CloudWorld, repo: FakeRepo, number: number, at: string) => void
const onPullRequest =
  (change: (world: CloudWorld, repo: FakeRepo, one: Thing, at: string) => void): Change =>
  (world, repo, number, at) => {
    const one = repo.pullRequests[number % repo.pullRequests.length]
    if (one) change(world, repo, one, at)
  }

/** The changes that can happen in a repository. */
export const CLOUD_CHANGES = {
  'open pull request': ({ make }, repo, _number, at) => void make.pullRequest(repo, at),
  push: onPullRequest(({ make }, repo, one, at) => one.state === 'OPEN' && make.commit(repo, one, at)),
  merge: onPullRequest(({ sha }, _repo, one, at) => {
    if (one.state !== 'OPEN') return
    const hash = sha(one.id + 20_000)
    Object.assign(one, {
      state: 'MERGED',
      closed_by: someone(one.id),
      merge_commit: { hash, date: at },
      updated_on: at,
    })
  }),
  decline: onPullRequest((_world, _repo, one, at) => {
    if (one.state === 'OPEN') Object.assign(one, { state: 'DECLINED', closed_by: someone(one.id), updated_on: at })
  }),
  approve: onPullRequest((_world, _repo, one, at) => {
    Object.assign(one.participants[0], { approved: true, state: 'approved', participated_on: at })
    one.updated_on = at
  }),
  comment: onPullRequest(({ make }, repo, one, at) => make.comment(repo, 'pullrequest', one, at)),
  'open issue': ({ make }, repo, _number, at) => void make.issue(repo, at),
  'change issue'(_world, repo, number, at) {
    const issue = repo.issues[number % repo.issues.length]
    if (issue)
      Object.assign(issue, { state: luck.pick('state', ['open', 'resolved', 'closed'], number), updated_on: at })
  },
  'comment issue'({ make }, repo, number, at) {
    const issue = repo.issues[number % repo.issues.length]
    if (issue) make.comment(repo, 'issue', issue, at)
  },
  'delete issue'(_world, repo, number) {
    if (repo.issues.length > 0) repo.issues.splice(number % repo.issues.length, 1)
  },
  'start pipeline': ({ make }, repo, _number, at) => void make.pipeline(repo, at),
  'finish pipeline'({ make }, repo, number, at) {
    const running = repo.pipelines.filter(({ completed_on }) => completed_on === null)
    const one = running[number % running.length]
    if (!one) return
    make.finish(repo, one, luck.pick('result', ['SUCCESSFUL', 'FAILED', 'STOPPED'], number), at)
    if (number % 2 === 0) make.deployment(repo, one, at)
  },
  'rerun steps'({ make }, repo, number, at) {
    const failed = repo.pipelines.filter(({ state }) => state.result?.name === 'FAILED')
    const one = failed[number % failed.length]
    if (one) make.finish(repo, one, 'SUCCESSFUL', at)
  },
} as const satisfies Record<string, Change>
