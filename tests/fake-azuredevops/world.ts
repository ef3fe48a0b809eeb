/** The data of an Azure DevOps organization, in the words of its API, and the changes that can happen to it. */
import { createHash } from 'node:crypto'

export const ORGANIZATION = 'acme'
export const PROJECT = { id: '7a3fd40e-2aed-4fac-bac9-511bf1a70206', name: 'Shop Floor', visibility: 'private' }
const CODE = ['web', 'api']
export const guidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
export const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex')
export const personNamed = (name: string) => ({
  id: guidOf(`person ${name}`),
  displayName: name,
  uniqueName: `${name.toLowerCase()}@example.com`,
})
const PEOPLE = ['Ada', 'Ben', 'Cleo'].map(personNamed)

type Fields = Record<string, any>
export interface FakeBuild extends Fields {
  id: number
  repository: { id: string; type: string }
  records: Fields[]
}
export interface FakePullRequest extends Fields {
  pullRequestId: number
  commits: Fields[]
  threads: Fields[]
}

export type World = ReturnType<typeof createWorld>

export function createWorld() {
  let last = 0
  const nextId = () => ++last
  const world = {
    now: () => new Date(),
    projects: [{ ...PROJECT }] as (typeof PROJECT)[],
    repositories: CODE.map((name) => ({
      id: guidOf(`repository ${name}`),
      name,
      project: PROJECT,
      webUrl: `https://dev.azure.com/acme/Shop%20Floor/_git/${name}`,
      remoteUrl: `https://acme@dev.azure.com/acme/Shop%20Floor/_git/${name}`,
      isDisabled: false,
    })),
    pullRequests: [] as FakePullRequest[],
    builds: [] as FakeBuild[],
    environments: ['staging', 'production'].map((name) => ({ id: nextId(), name })),
    environmentRecords: [] as Fields[],
    deployments: [] as Fields[],
    workItems: [] as Fields[],
    links: [] as Fields[],
    iterations: [] as Fields[],
  }
  const time = () => world.now().toISOString()
  const person = (number: number) => PEOPLE[number % PEOPLE.length] as (typeof PEOPLE)[number]
  const repository = (number: number) => world.repositories[number % CODE.length] as (typeof world.repositories)[number]

  return Object.assign(world, {
    person,
    repository,
    openPullRequest(at: number, more: Fields = {}): FakePullRequest {
      const id = nextId()
      const opened = {
        pullRequestId: id,
        repository: { id: repository(at).id },
        status: 'active',
        isDraft: false,
        createdBy: person(id),
        creationDate: time(),
        title: `Change ${id}`,
        description: 'as planned',
        sourceRefName: `refs/heads/change-${id}`,
        targetRefName: 'refs/heads/main',
        lastMergeCommit: { commitId: shaOf(`merge ${id}`) },
        lastMergeSourceCommit: { commitId: shaOf(`head ${id}`) },
        lastMergeTargetCommit: { commitId: shaOf(`base ${id}`) },
        reviewers: [{ ...person(id + 1), vote: 0 }] as Fields[],
        labels: [] as Fields[],
        url: `https://dev.azure.com/acme/_apis/git/pullRequests/${id}`,
        commits: [] as Fields[],
        threads: [] as Fields[],
        ...more,
      }
      world.pullRequests.push(opened)
      this.push(opened)
      return opened
    },
    push(pullRequest: FakePullRequest): void {
      const commitId = shaOf(`commit ${nextId()}`)
      const author = { name: 'Ada', email: 'ada@example.com', date: time() }
      pullRequest.commits.unshift({
        commitId,
        author,
        committer: author,
        comment: 'work',
        url: `https://dev.azure.com/acme/_apis/git/commits/${commitId}`,
      })
      pullRequest.lastMergeSourceCommit = { commitId }
    },
    /** Replaces the pushed commits by another one. */
    forcePush(pullRequest: FakePullRequest): void {
      pullRequest.commits.length = 0
      this.push(pullRequest)
    },
    close(pullRequest: FakePullRequest, status: 'completed' | 'abandoned'): void {
      Object.assign(pullRequest, { status, closedDate: time(), closedBy: person(pullRequest.pullRequestId + 1) })
    },
    reactivate(pullRequest: FakePullRequest): void {
      pullRequest.status = 'active'
      delete pullRequest.closedDate
      delete pullRequest.closedBy
    },
    say(pullRequest: FakePullRequest, number: number, content = 'why?'): void {
      const comment = { id: 1, author: person(number), content, commentType: 'text', publishedDate: time() }
      const place = number % 2 === 0 ? { filePath: '/main.ts' } : null
      pullRequest.threads.push({ id: nextId(), threadContext: place, properties: {}, comments: [comment] })
    },
    vote(pullRequest: FakePullRequest, number: number, vote: number): void {
      const voter = person(number)
      const others = (pullRequest.reviewers as Fields[]).filter(({ id }) => id !== voter.id)
      pullRequest.reviewers = [...others, { ...voter, vote }]
      const properties = {
        CodeReviewThreadType: { $type: 'System.String', $value: 'VoteUpdate' },
        CodeReviewVoteResult: { $type: 'System.String', $value: String(vote) },
      }
      const content = `${voter.displayName} voted ${vote}`
      const comment = { id: 1, author: voter, content, commentType: 'system', publishedDate: time() }
      pullRequest.threads.push({ id: nextId(), properties, comments: [comment] })
    },
    queueBuild(at: number, more: Fields = {}): FakeBuild {
      const id = nextId()
      const build = {
        id,
        status: 'inProgress',
        queueTime: time(),
        startTime: time(),
        lastChangedDate: time(),
        definition: { id: 5, name: `build ${repository(at).name}` },
        repository: { id: repository(at).id, type: 'TfsGit' },
        sourceBranch: 'refs/heads/main',
        sourceVersion: shaOf(`build ${id}`),
        tags: [],
        records: [] as Fields[],
        ...more,
      }
      build.records.push(
        {
          id: guidOf(`stage ${id}`),
          type: 'Stage',
          name: 'Build',
          state: 'inProgress',
          startTime: time(),
          changeId: 1,
        },
        { id: guidOf(`job ${id}`), type: 'Job', name: 'deploy it', parentId: guidOf(`stage ${id}`), state: 'pending' },
      )
      world.builds.push(build)
      return build
    },
    finishBuild(build: FakeBuild, result: string): void {
      Object.assign(build, { status: 'completed', result, finishTime: time(), lastChangedDate: time() })
      for (const record of build.records) {
        Object.assign(record, { state: 'completed', result, startTime: record.startTime ?? time(), finishTime: time() })
      }
    },
    /** Runs a stage of the build again. */
    rerunBuild(build: FakeBuild): void {
      const { result: _, finishTime: __, ...rest } = build
      delete build.result
      delete build.finishTime
      Object.assign(build, rest, { status: 'inProgress', lastChangedDate: time() })
      for (const record of build.records) Object.assign(record, { state: 'inProgress', result: null, finishTime: null })
    },
    deploy(build: FakeBuild, number: number): Fields {
      const environment = world.environments[number % world.environments.length] as { id: number }
      const record = {
        id: nextId(),
        environmentId: environment.id,
        definition: build.definition,
        owner: { id: build.id, name: String(build.id) },
        stageName: 'Deploy',
        jobName: 'deploy it',
        queueTime: time(),
        startTime: time(),
        result: null as string | null,
        finishTime: null as string | null,
      }
      world.environmentRecords.push(record)
      return record
    },
    finishDeployment(record: Fields, result: string): void {
      Object.assign(record, { result, finishTime: time() })
    },
    release(build: FakeBuild, environment: string): Fields {
      const id = nextId()
      const about = {
        repository: { id: build.repository.id },
        version: { id: String(build.id), name: `2026.${build.id}` },
        branch: { id: build.sourceBranch },
        ...(id % 2 === 0 && { sourceVersion: { id: build.sourceVersion } }),
      }
      const deployment = {
        id,
        release: { id: id + 1000, name: `Release-${id}`, artifacts: [{ type: 'Build', definitionReference: about }] },
        releaseDefinition: { id: 1, name: 'Ship' },
        releaseEnvironment: { id: 1, name: environment },
        deploymentStatus: 'inProgress',
        queuedOn: time(),
        startedOn: time(),
        lastModifiedOn: time(),
      }
      world.deployments.push(deployment)
      return deployment
    },
    finishRelease(deployment: Fields, deploymentStatus: string): void {
      Object.assign(deployment, { deploymentStatus, completedOn: time(), lastModifiedOn: time() })
    },
    addIteration(name: string, startDate: string, finishDate: string): Fields {
      const iteration = {
        id: nextId(),
        name,
        path: `\\Shop Floor\\Iteration\\${name}`,
        attributes: { startDate, finishDate },
      }
      world.iterations.push(iteration)
      return iteration
    },
    addWorkItem(type: string, more: Fields = {}): Fields {
      const id = nextId()
      const fields: Fields = {
        'System.WorkItemType': type,
        'System.TeamProject': PROJECT.name,
        'System.AreaPath': PROJECT.name,
        'System.Title': `Item ${id}`,
        'System.State': 'New',
        'System.CreatedBy': person(id),
        'System.CreatedDate': time(),
        ...more,
      }
      const item = { id, rev: 0, fields }
      world.workItems.push(item)
      this.changeWorkItem(item, {})
      return item
    },
    changeWorkItem(item: Fields, fields: Fields): void {
      item.rev++
      Object.assign(item.fields, fields, { 'System.ChangedDate': time(), 'System.Rev': item.rev })
      // Work items are listed in the order of their changes.
      world.workItems = [...world.workItems.filter((each) => each !== item), item]
    },
    setParent(child: Fields, parent: Fields | undefined): void {
      for (const { attributes } of world.links) {
        if (attributes.targetId === child.id && attributes.isActive) {
          Object.assign(attributes, { isActive: false, changedDate: time() })
        }
      }
      if (!parent) return
      const known = world.links.find(
        ({ attributes }) => attributes.sourceId === parent.id && attributes.targetId === child.id,
      )
      const attributes = { sourceId: parent.id, targetId: child.id, isActive: true, changedDate: time() }
      if (known) Object.assign(known.attributes, attributes)
      else world.links.push({ rel: 'System.LinkTypes.Hierarchy-Forward', attributes })
    },
  })
}
