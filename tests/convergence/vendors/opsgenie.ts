import fc from 'fast-check'
import { opsgenie } from '../../../src/plugins/opsgenie/plugin.ts'
import {
  type FakeIncident,
  type FakeOpsgenie,
  KEY,
  startFakeOpsgenie,
  USERS,
  type World,
} from '../../fake-opsgenie/fake-opsgenie.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const SERVICES = ['web', 'api', 'data']
const idOf = (index: number) => `service-${SERVICES[index]}`
const service = fc.nat(SERVICES.length - 1)
const any = fc.nat(9)

const CHANGES = {
  open: { arguments: [service] },
  resolve: { arguments: [any] },
  close: { arguments: [any] },
  'strange status': { arguments: [any] },
  'add responder': { arguments: [any, any] },
  'drop responders': { arguments: [any] },
  'impact service': { arguments: [any, service] },
  'delete incident': { arguments: [any] },
  'rename user': { arguments: [any, any] },
} as const satisfies Record<string, VendorChange>

const on = (world: World, number: number, act: (incident: FakeIncident) => void) => {
  const incident = pick(world.incidents, number)
  if (incident) act(incident)
}

const APPLY: Record<keyof typeof CHANGES, (world: World, ...parameters: any[]) => void> = {
  open: (world, at) => void world.open(idOf(at)),
  resolve: (world, number) => on(world, number, world.resolve),
  close: (world, number) => on(world, number, world.close),
  'strange status': (world, number) => on(world, number, (each) => world.change(each, { status: 'merged' })),
  'add responder': (world, number, user) =>
    on(world, number, (each) =>
      world.change(each, {
        responders: [...each.responders, { type: 'user', id: USERS[user % USERS.length]?.id ?? '' }],
      }),
    ),
  'drop responders': (world, number) => on(world, number, (each) => world.change(each, { responders: [] })),
  'impact service': (world, number, at) =>
    on(world, number, (each) => {
      const others = each.impactedServices.filter((id) => id !== idOf(at))
      // A service that is impacted already is removed, as long as another one remains.
      const isNew = others.length === each.impactedServices.length
      world.change(each, { impactedServices: isNew || others.length === 0 ? [...others, idOf(at)] : others })
    }),
  'delete incident': (world, number) => on(world, number, world.remove),
  'rename user': (world, number, name) => {
    const user = pick(world.users, number)
    if (user) user.fullName = `Someone ${name}`
  },
}

export const opsgenieVendor: VendorUnderTest = {
  name: 'opsgenie',
  interfaces: [opsgenie],
  scopes: SERVICES.map((name, index) => ({ options: { serviceId: idOf(index) }, row: { id: idOf(index), name } })),
  rules: [{}],
  lists: ['/v1/incidents', '/v1/services', '/v2/users', '/v2/teams'],
  changes: CHANGES,
  unlike: {
    '_tool_opsgenie_incidents.service_name': 'the name of a service is known only as long as it is a scope',
  },
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeOpsgenie()
        const { world } = fake
        world.now = () => new Date(now())
        for (const [index, name] of SERVICES.entries()) world.addService(idOf(index), name)
        for (let number = 0; number < 4; number++) world.open(idOf(number % 3))
        APPLY['impact service'](world, 0, 1)
        APPLY.resolve(world, 1)
        return fake
      },
      connection: (endpoint) => ({ endpoint, token: KEY }),
      change: ({ world }: FakeOpsgenie, name, parameters) => APPLY[name as keyof typeof CHANGES](world, ...parameters),
    }),
}
