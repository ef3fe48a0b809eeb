import fc from 'fast-check'
import { sonarqube } from '../../../src/plugins/sonarqube/plugin.ts'
import { type FakeSonarqube, startFakeSonarqube, TOKEN } from '../../fake-sonarqube/fake-sonarqube.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const PROJECTS = ['web', 'api', 'tool']
const STATUSES = ['OPEN', 'CONFIRMED', 'RESOLVED', 'ACCEPTED']

const any = fc.nat(9)

const CHANGES = {
  'add issue': { arguments: [any] },
  'change issue': { arguments: [any, any] },
  'delete issue': { arguments: [any, any] },
  'add hotspot': { arguments: [any] },
  'review hotspot': { arguments: [any, any] },
  'measure file': { arguments: [any, any] },
  'delete file': { arguments: [any, any] },
  analyse: { arguments: [any] },
  'add user': { arguments: [any] },
} as const satisfies Record<string, VendorChange>

const projectIn = (fake: FakeSonarqube, number: number) => pick(fake.projects, number) as FakeSonarqube['projects'][0]

const APPLY: Record<keyof typeof CHANGES, (fake: FakeSonarqube, ...parameters: any[]) => void> = {
  'add issue': (fake, number) => void fake.addIssue(projectIn(fake, number), { lines: [number, number + 1] }),
  'change issue'(fake, number, at) {
    const issue = pick(projectIn(fake, number).issues, at)
    if (issue) Object.assign(issue, { status: STATUSES[at % STATUSES.length], updated: fake.now() })
  },
  'delete issue': (fake, number, at) => void projectIn(fake, number).issues.splice(at, 1),
  'add hotspot': (fake, number) => void fake.addHotspot(projectIn(fake, number)),
  'review hotspot'(fake, number, at) {
    const hotspot = pick(projectIn(fake, number).hotspots, at)
    if (hotspot) Object.assign(hotspot, { status: 'REVIEWED', updated: fake.now() })
  },
  'measure file': (fake, number, at) =>
    fake.setFile(projectIn(fake, number), `src/${at}.ts`, { bugs: String(number), complexity: String(at) }),
  'delete file': (fake, number, at) => void projectIn(fake, number).files.splice(at, 1),
  analyse: (fake, number) => fake.analyse(projectIn(fake, number), `commit-${fake.now().getTime()}`),
  'add user': (fake, number) => void fake.users.push({ login: `user-${fake.users.length}`, name: `User ${number}` }),
}

export const sonarqubeVendor: VendorUnderTest = {
  name: 'sonarqube',
  interfaces: [sonarqube],
  scopes: PROJECTS.map((project_key) => ({
    options: { projectKey: project_key },
    row: { project_key, name: project_key },
  })),
  rules: [{}],
  lists: ['/issues/search', '/hotspots/search', 'metricKeys=code_smells', 'metricKeys=duplicated', '/users/search'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeSonarqube()
        fake.setNow(() => new Date(now()))
        for (const key of PROJECTS) fake.addProject(key)
        for (let number = 0; number < 6; number++) {
          APPLY['add issue'](fake, number)
          APPLY['measure file'](fake, number, number % 2)
          if (number < 3) APPLY['add hotspot'](fake, number)
        }
        return fake
      },
      connection: (url) => ({ endpoint: new URL('./api/', url).href, token: TOKEN }),
      change: (fake, name, parameters) => APPLY[name as keyof typeof CHANGES](fake, ...parameters),
    }),
}
