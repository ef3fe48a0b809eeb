/** The data of a Bamboo: plans with jobs and builds, and deployment projects with environments and deployments. */
export interface FakePlan {
  readonly key: string
  readonly project: string
  name: string
  isEnabled: boolean
  readonly jobs: { readonly key: string; readonly name: string }[]
  /** Newest first, as in all lists. */
  readonly builds: FakeBuild[]
}
export interface FakeBuild {
  readonly number: number
  state: string
  lifeCycle: string
  readonly started: Date | null
  completed: Date | null
  readonly revisions: readonly { readonly repository: number; readonly sha: string }[]
  /** The jobs that the plan had at that time. */
  readonly jobs: readonly string[]
}
export interface FakeEnvironment {
  readonly id: number
  readonly name: string
  readonly planKey: string
  readonly deployments: FakeDeployment[]
}
export interface FakeDeployment {
  readonly id: number
  readonly version: string
  readonly planResult: string
  state: string
  lifeCycle: string
  readonly started: Date
  finished: Date | null
}

export function createWorld() {
  const world = {
    now: () => new Date(),
    plans: [] as FakePlan[],
    environments: [] as FakeEnvironment[],
  }
  let last = 1000
  const planOf = (key: string) => world.plans.find((each) => each.key === key)
  return Object.assign(world, {
    planOf,
    addPlan(key: string, name: string, project = 'shop'): FakePlan {
      const plan: FakePlan = { key, project, name, isEnabled: true, jobs: [], builds: [] }
      world.plans.push(plan)
      return plan
    },
    addJob(plan: FakePlan, name: string) {
      plan.jobs.push({ key: `${plan.key}-JOB${plan.jobs.length + 1}`, name })
    },
    build(
      plan: FakePlan,
      { state = 'Successful', lifeCycle = 'Finished', revisions = [] as FakeBuild['revisions'] } = {},
    ) {
      const number = (plan.builds[0]?.number ?? 0) + 1
      const started = lifeCycle === 'Queued' ? null : world.now()
      const completed = lifeCycle === 'Finished' ? world.now() : null
      const jobs = plan.jobs.map(({ key }) => key)
      const made: FakeBuild = { number, state, lifeCycle, started, completed, revisions, jobs }
      plan.builds.unshift(made)
      return made
    },
    finish(build: FakeBuild, state: string) {
      Object.assign(build, {
        state,
        lifeCycle: 'Finished',
        started: build.started ?? world.now(),
        completed: world.now(),
      })
    },
    addEnvironment(planKey: string, name: string): FakeEnvironment {
      const environment: FakeEnvironment = { id: ++last, name, planKey, deployments: [] }
      world.environments.push(environment)
      return environment
    },
    deploy(environment: FakeEnvironment, planResult: string, { state = 'SUCCESS', lifeCycle = 'FINISHED' } = {}) {
      const finished = lifeCycle === 'FINISHED' ? world.now() : null
      const id = ++last
      const made: FakeDeployment = {
        id,
        version: `release-${id}`,
        planResult,
        state,
        lifeCycle,
        started: world.now(),
        finished,
      }
      environment.deployments.unshift(made)
      return made
    },
  })
}
export type World = ReturnType<typeof createWorld>
