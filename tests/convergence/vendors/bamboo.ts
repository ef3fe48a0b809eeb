import fc from 'fast-check'
import { bamboo } from '../../../src/plugins/bamboo/plugin.ts'
import { type FakeBamboo, PASSWORD, startFakeBamboo, USER } from '../../fake-bamboo/fake-bamboo.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const PLANS = ['SHOP-WEB', 'SHOP-API', 'OPS-TOOL']
const ENDS = ['Successful', 'Failed', 'Unknown']

const any = fc.nat(9)
const end = fc.nat(ENDS.length - 1)

const CHANGES = {
  'run build': { arguments: [any, end] },
  'start build': { arguments: [any] },
  'finish build': { arguments: [any, end] },
  deploy: { arguments: [any] },
  'start deployment': { arguments: [any] },
  'finish deployment': { arguments: [any] },
  'add job': { arguments: [any] },
  'add environment': { arguments: [any] },
  'delete environment': { arguments: [any] },
  // Builds are listed newest first, down to those that are known, so a deletion is not seen.
  'delete build': { arguments: [any, any], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>

const goingIn = (fake: FakeBamboo) =>
  fake.plans.flatMap(({ builds }) => builds.filter(({ lifeCycle }) => lifeCycle === 'InProgress'))
const deployingIn = (fake: FakeBamboo) =>
  fake.environments.flatMap(({ deployments }) => deployments.filter(({ finished }) => !finished))

function build(fake: FakeBamboo, number: number, options: object): void {
  const plan = pick(fake.plans, number)
  const sha = String(fake.now().getTime()).padStart(40, '0')
  if (plan) fake.build(plan, { ...options, revisions: [{ repository: 10 + (number % 2), sha }] })
}
function deploy(fake: FakeBamboo, number: number, options: object): void {
  const environment = pick(fake.environments, number)
  const latest = environment && fake.planOf(environment.planKey)?.builds[0]
  if (environment && latest) fake.deploy(environment, `${environment.planKey}-${latest.number}`, options)
}

const APPLY: Record<keyof typeof CHANGES, (fake: FakeBamboo, ...parameters: any[]) => void> = {
  'run build': (fake, number, at) => build(fake, number, { state: ENDS[at] }),
  'start build': (fake, number) => build(fake, number, { state: 'Unknown', lifeCycle: 'InProgress' }),
  'finish build'(fake, number, at) {
    const going = pick(goingIn(fake), number)
    if (going) fake.finish(going, ENDS[at] as string)
  },
  deploy: (fake, number) => deploy(fake, number, {}),
  'start deployment': (fake, number) => deploy(fake, number, { state: 'UNKNOWN', lifeCycle: 'IN_PROGRESS' }),
  'finish deployment'(fake, number) {
    const going = pick(deployingIn(fake), number)
    if (going) Object.assign(going, { state: 'FAILED', lifeCycle: 'FINISHED', finished: fake.now() })
  },
  'add job'(fake, number) {
    const plan = pick(fake.plans, number)
    if (plan) fake.addJob(plan, `job ${number}`)
  },
  'add environment': (fake, number) =>
    void fake.addEnvironment(PLANS[number % PLANS.length] as string, number % 2 ? 'Production' : `test ${number}`),
  'delete environment': (fake, number) => void fake.environments.splice(number % (fake.environments.length || 1), 1),
  'delete build'(fake, number, at) {
    const plan = pick(fake.plans, number)
    // The newest build stays, because its number would be used again.
    if (plan && plan.builds.length > 1) plan.builds.splice(1 + (at % (plan.builds.length - 1)), 1)
  },
}

export const bambooVendor: VendorUnderTest = {
  name: 'bamboo',
  interfaces: [bamboo],
  scopes: PLANS.map((plan_key) => ({ options: { planKey: plan_key }, row: { plan_key, name: plan_key } })),
  rules: [{ deployment_pattern: 'web' }, { production_pattern: 'build' }, { env_name_pattern: '(?i)prod' }],
  lists: ['/search/jobs/', '/result/SHOP-WEB.json', '/result/', '/deploy/project/', '/deploy/environment/'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeBamboo()
        fake.setNow(() => new Date(now()))
        for (const key of PLANS) fake.addJob(fake.addPlan(key, key.toLowerCase()), 'build')
        for (const number of [1, 2, 3]) APPLY['add environment'](fake, number)
        for (let number = 0; number < 5; number++) APPLY['run build'](fake, number, number % ENDS.length)
        for (const number of [0, 1, 2]) APPLY.deploy(fake, number)
        APPLY['start build'](fake, 0)
        return fake
      },
      connection: (url) => ({ endpoint: new URL('./rest/api/latest/', url).href, username: USER, password: PASSWORD }),
      change: (fake, name, parameters) => APPLY[name as keyof typeof CHANGES](fake, ...parameters),
    }),
}
