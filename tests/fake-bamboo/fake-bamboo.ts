/**
 * The part of Bamboo's REST API that the plugin uses, from https://developer.atlassian.com/server/bamboo/rest/: lists with
 * `start-index` and `max-results`. The server may return fewer records than requested.
 */
import { type Answer, NOT_FOUND, startFakeSource } from '../support/fake-source.ts'
import { createWorld, type FakeBuild, type FakeDeployment, type FakeEnvironment, type FakePlan } from './world.ts'

export const USER = 'ada'
export const PASSWORD = 'bamboo-secret'
const PREFIX = '/rest/api/latest/'
const HOME = 'http://bamboo.example.com'

export type FakeBamboo = Awaited<ReturnType<typeof startFakeBamboo>>

export async function startFakeBamboo() {
  const world = createWorld()
  const settings = { mostPerPage: 100 }
  const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  const source = await startFakeSource({ Authorization: authorization }, (address) => answerTo(address))
  const pageOf = <Thing>(things: readonly Thing[], { searchParams }: URL) => {
    const start = Number(searchParams.get('start-index') ?? 0)
    const most = Math.min(Number(searchParams.get('max-results') ?? 25), settings.mostPerPage)
    const page = things.slice(start, start + most)
    return { page, list: { size: things.length, 'start-index': start, 'max-result': page.length } }
  }

  function results(address: URL, all: readonly object[]): Answer {
    const { page, list } = pageOf(all, address)
    return [200, { results: { ...list, expand: 'result', result: page } }]
  }
  function resultsOf(key: string, address: URL): Answer {
    const isWhole = address.searchParams.get('includeAllStates') === 'true'
    const listed = ({ lifeCycle }: FakeBuild) => isWhole || lifeCycle === 'Finished'
    for (const plan of world.plans) {
      if (plan.key === key)
        return results(
          address,
          plan.builds.filter(listed).map((each) => resultOf(plan, each)),
        )
      const job = plan.jobs.find((each) => each.key === key)
      const own = plan.builds.filter((each) => listed(each) && each.jobs.includes(key))
      if (job)
        return results(
          address,
          own.map((each) => resultOf(plan, each, job)),
        )
      const [, owner = '', number = ''] = /^(.*)-(\d+)$/.exec(key) ?? []
      const build = plan.builds.find((each) => each.number === Number(number))
      const jobOfBuild = plan.jobs.find((each) => each.key === owner)
      if (build && (owner === plan.key || jobOfBuild)) return [200, resultOf(plan, build, jobOfBuild)]
    }
    return NOT_FOUND
  }

  function search(address: URL, entities: readonly { readonly key: string }[]): Answer {
    const { page, list } = pageOf(entities, address)
    return [
      200,
      { ...list, searchResults: page.map((each) => ({ id: each.key, searchEntity: { id: each.key, ...each } })) },
    ]
  }

  function deployments(environment: FakeEnvironment | undefined, address: URL): Answer {
    if (!environment) return NOT_FOUND
    const { page, list } = pageOf(environment.deployments, address)
    return [200, { ...list, results: page.map((each) => deploymentOf(environment, each)) }]
  }

  function answerTo(address: URL): Answer {
    const path = decodeURIComponent(address.pathname)
    if (!path.startsWith(PREFIX)) return NOT_FOUND
    const [, what = '', key = ''] =
      /^([a-z/]*?)(?:\/?([A-Z0-9-]*))?(?:\/results)?\.json$/.exec(path.slice(PREFIX.length)) ?? []
    const { plans, environments } = world
    if (what === 'info') return [200, { version: '9.6.2', edition: '', buildNumber: '90620', state: 'RUNNING' }]
    if (what === 'plan' && key === '') {
      const { page, list } = pageOf(plans, address)
      return [200, { plans: { ...list, plan: page.map(planOf) } }]
    }
    if (what === 'plan') {
      const plan = world.planOf(key)
      return plan ? [200, planOf(plan)] : NOT_FOUND
    }
    if (what === 'project' && key === '') {
      const names = [...new Set(plans.map(({ project }) => project))]
      const { page, list } = pageOf(names, address)
      return [200, { projects: { ...list, project: page.map((name) => ({ key: name.toUpperCase(), name })) } }]
    }
    if (what === 'project') {
      const { page, list } = pageOf(
        plans.filter(({ project }) => project.toUpperCase() === key),
        address,
      )
      return [200, { key, plans: { ...list, plan: page.map(planOf) } }]
    }
    if (what === 'search/plans') {
      const term = (address.searchParams.get('searchTerm') ?? '').toLowerCase()
      const found = plans.filter(({ name }) => name.toLowerCase().includes(term))
      return search(
        address,
        found.map(({ key, name, project }) => ({ key, planName: name, projectName: project, type: 'chain' })),
      )
    }
    if (what === 'search/jobs') {
      const plan = world.planOf(key)
      if (!plan) return NOT_FOUND
      return search(
        address,
        plan.jobs.map((job) => ({
          key: job.key,
          jobName: job.name,
          planName: plan.name,
          projectName: plan.project,
          type: 'job',
        })),
      )
    }
    if (what === 'result') return resultsOf(key, address)
    if (what === 'deploy/project/all') return [200, deploymentProjects(environments)]
    const id = Number(key)
    if (what === 'deploy/environment')
      return deployments(
        environments.find((each) => each.id === id),
        address,
      )
    const environment = environments.find((each) => each.deployments.some((deployment) => deployment.id === id))
    const deployment = environment?.deployments.find((each) => each.id === id)
    return environment && deployment ? [200, deploymentOf(environment, deployment)] : NOT_FOUND
  }
  return Object.assign(source, world, settings, {
    endpoint: new URL(`.${PREFIX}`, source.url).href,
    /** Sets one clock for events and for the dates of answers. */
    setNow(now: () => Date) {
      Object.assign(source, { now })
      world.now = now
    },
    setMostPerPage(most: number) {
      settings.mostPerPage = most
    },
  })
}

const planOf = ({ key, name, project, isEnabled }: FakePlan) => ({
  key,
  name: `${project} - ${name}`,
  shortName: name,
  shortKey: key.split('-').at(-1),
  buildName: name,
  projectKey: project.toUpperCase(),
  projectName: project,
  type: 'chain',
  enabled: isEnabled,
  link: { href: `${HOME}${PREFIX}plan/${key}`, rel: 'self' },
})

function resultOf(plan: FakePlan, build: FakeBuild, job?: { readonly key: string; readonly name: string }) {
  const owner = job ?? plan
  const key = `${owner.key}-${build.number}`
  const duration = build.started && build.completed ? build.completed.getTime() - build.started.getTime() : 0
  return {
    link: { href: `${HOME}${PREFIX}result/${key}`, rel: 'self' },
    plan: { key: owner.key, shortName: owner.name, type: job ? 'job' : 'chain' },
    planName: owner.name,
    projectName: plan.project,
    buildResultKey: key,
    key,
    number: build.number,
    buildNumber: build.number,
    state: build.state,
    buildState: build.state,
    lifeCycleState: build.lifeCycle,
    ...(build.started && { buildStartedTime: build.started.toISOString() }),
    ...(build.completed && {
      buildCompletedTime: build.completed.toISOString(),
      buildCompletedDate: build.completed.toISOString(),
    }),
    buildDuration: duration,
    buildDurationInSeconds: Math.floor(duration / 1000),
    vcsRevisions: {
      size: build.revisions.length,
      vcsRevision: build.revisions.map(({ repository, sha }) => ({
        repositoryId: repository,
        repositoryName: `repo-${repository}`,
        vcsRevisionKey: sha,
      })),
    },
    planResultKey: { key, entityKey: { key: owner.key }, resultNumber: build.number },
  }
}

/** One deployment project per plan. */
const deploymentProjects = (environments: readonly FakeEnvironment[]) =>
  [...new Set(environments.map(({ planKey }) => planKey))].map((planKey, index) => ({
    id: index + 1,
    name: `deploy ${planKey}`,
    planKey: { key: planKey },
    environments: environments
      .filter((each) => each.planKey === planKey)
      .map(({ id, name }) => ({
        id,
        name,
        key: { key: `${index + 1}-${id}` },
        deploymentProjectId: index + 1,
        operations: { canView: true },
      })),
  }))

const deploymentOf = ({ id: environment }: FakeEnvironment, deployment: FakeDeployment) => ({
  id: deployment.id,
  deploymentVersionName: deployment.version,
  deploymentVersion: {
    name: deployment.version,
    planBranchName: 'main',
    items: [{ planResultKey: { key: deployment.planResult } }],
  },
  deploymentState: deployment.state,
  lifeCycleState: deployment.lifeCycle,
  startedDate: deployment.started.getTime(),
  queuedDate: deployment.started.getTime(),
  executedDate: deployment.started.getTime(),
  finishedDate: deployment.finished?.getTime() ?? 0,
  key: { key: `1-${environment}-${deployment.id}`, entityKey: { key: `1-${environment}` } },
  operations: { canView: true },
})
