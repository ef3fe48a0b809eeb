import fc from 'fast-check'
import { linear } from '../../../src/plugins/linear/plugin.ts'
import { type FakeLinear, startFakeLinear, TOKEN } from '../../fake-linear/fake-linear.ts'
import type { FakeIssue, FakeTeam, World } from '../../fake-linear/world.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const TEAMS = ['Web', 'Data', 'Infra']
const idOf = (index: number) => `team-${index}`
const team = fc.nat(TEAMS.length - 1)
const any = fc.nat(9)

const CHANGES = {
  open: { arguments: [team, any] },
  move: { arguments: [team, any, any] },
  edit: { arguments: [team, any, any] },
  assign: { arguments: [team, any, any] },
  label: { arguments: [team, any, any, fc.nat(3)] },
  comment: { arguments: [team, any, any] },
  'edit comment': { arguments: [team, any, any] },
  plan: { arguments: [team, any, any] },
  relate: { arguments: [team, any, any] },
  trash: { arguments: [team, any] },
  restore: { arguments: [team, any] },
  'begin cycle': { arguments: [team] },
  'end cycle': { arguments: [team, any] },
  'deactivate person': { arguments: [any] },
} as const satisfies Record<string, VendorChange>

const issueOf = (world: World, at: number, number: number): FakeIssue | undefined =>
  pick(world.teams[at]?.issues ?? [], number)

const APPLY: Record<keyof typeof CHANGES, (world: World, ...parameters: any[]) => void> = {
  open: (world, at, number) => void world.open(world.teams[at] as FakeTeam, { user: number, labels: [number] }),
  move: (world, at, number, to) => world.move(issueOf(world, at, number), to, to),
  edit: (world, at, number, word) => world.edit(issueOf(world, at, number), `Title ${word}`),
  assign: (world, at, number, user) => world.assign(issueOf(world, at, number), user),
  label: (world, at, number, first, howMany) =>
    world.label(
      issueOf(world, at, number),
      Array.from({ length: howMany }, (_, place) => first + place),
    ),
  comment: (world, at, number, user) => world.comment(issueOf(world, at, number), user),
  'edit comment': (world, at, number, word) => world.editComment(issueOf(world, at, number), `Body ${word}`),
  plan: (world, at, number, cycle) =>
    world.plan(issueOf(world, at, number), pick(world.teams[at]?.cycles ?? [], cycle)),
  relate: (world, at, number, other) => world.relate(issueOf(world, at, number), issueOf(world, at, other)),
  trash: (world, at, number) => world.trash(issueOf(world, at, number)),
  restore: (world, at, number) => world.restore(issueOf(world, at, number)),
  'begin cycle': (world, at) => void world.addCycle(world.teams[at] as FakeTeam),
  'end cycle': (world, at, number) => world.endCycle(pick(world.teams[at]?.cycles ?? [], number)),
  'deactivate person': (world, number) => {
    const user = pick(world.users, number)
    if (user) user.active = !user.active
  },
}

export const linearVendor: VendorUnderTest = {
  name: 'linear',
  interfaces: [linear],
  scopes: TEAMS.map((name, index) => ({
    options: { teamId: idOf(index) },
    row: { team_id: idOf(index), name, key: name.toUpperCase() },
  })),
  rules: [{}, { issueTypeIncident: '(?i)incident', issueTypeBug: 'Bug' }],
  lists: ['query users', 'query states', 'query issues(', 'query cycles', 'commentsOfIssue', 'historyOfIssue'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeLinear()
        const { world } = fake
        world.now = () => new Date(now())
        for (const [index, name] of TEAMS.entries())
          world.addCycle(world.addTeam(idOf(index), name, name.toUpperCase()))
        for (let number = 0; number < 6; number++) APPLY.open(world, number % TEAMS.length, number)
        for (let at = 0; at < TEAMS.length; at++) APPLY.comment(world, at, 0, at)
        return fake
      },
      connection: (url) => ({ endpoint: `${url}graphql`, token: TOKEN }),
      change({ world }: FakeLinear, name, parameters, { send }) {
        const before = world.events.length
        APPLY[name as keyof typeof CHANGES](world, ...parameters)
        for (const each of world.events.slice(before)) send(JSON.parse(JSON.stringify(each)))
      },
    }),
}
