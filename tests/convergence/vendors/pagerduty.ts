import fc from 'fast-check'
import { pagerduty } from '../../../src/plugins/pagerduty/plugin.ts'
import { type FakePagerduty, startFakePagerduty, TOKEN } from '../../fake-pagerduty/fake-pagerduty.ts'
import type { FakeIncident, FakeService, World } from '../../fake-pagerduty/world.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const SERVICES = ['web', 'api', 'data']
const idOf = (index: number) => `PSERV${index}`
const service = fc.nat(SERVICES.length - 1)
const any = fc.nat(9)

const CHANGES = {
  trigger: { arguments: [service, any] },
  acknowledge: { arguments: [any] },
  resolve: { arguments: [any] },
  reopen: { arguments: [any] },
  'strange status': { arguments: [any] },
  reassign: { arguments: [any, any] },
  'add responder': { arguments: [any, any] },
  prioritise: { arguments: [any, any] },
  'rename service': { arguments: [service, any] },
} as const satisfies Record<string, VendorChange>

const inStatus = ({ incidents }: World, ...statuses: string[]) =>
  incidents.filter(({ status }) => statuses.includes(status))
const on = (incident: FakeIncident | undefined, act: (incident: FakeIncident) => void) => {
  if (incident) act(incident)
}

const APPLY: Record<keyof typeof CHANGES, (world: World, ...parameters: any[]) => void> = {
  trigger: (world, at, user) => void world.trigger(world.services[at] as FakeService, { user }),
  acknowledge: (world, number) => on(pick(inStatus(world, 'triggered'), number), world.acknowledge),
  resolve: (world, number) => on(pick(inStatus(world, 'triggered', 'acknowledged'), number), world.resolve),
  reopen: (world, number) => on(pick(inStatus(world, 'resolved'), number), world.reopen),
  'strange status': (world, number) =>
    on(pick(inStatus(world, 'triggered'), number), (incident) => world.setStatus(incident, 'paused')),
  reassign: (world, number, user) =>
    on(pick(inStatus(world, 'triggered', 'acknowledged'), number), (incident) => world.reassign(incident, user)),
  'add responder': (world, number, user) =>
    on(pick(world.incidents, number), (incident) => world.addResponder(incident, user)),
  prioritise: (world, number, priority) =>
    on(pick(world.incidents, number), (incident) => world.prioritise(incident, priority)),
  'rename service': (world, at, number) => world.renameService(idOf(at), `${SERVICES[at]} ${number}`),
}

export const pagerdutyVendor: VendorUnderTest = {
  name: 'pagerduty',
  interfaces: [pagerduty],
  scopes: SERVICES.map((name, index) => ({ options: { serviceId: idOf(index) }, row: { id: idOf(index), name } })),
  rules: [{}],
  lists: ['/incidents?', '/incidents/', '/services/'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakePagerduty()
        const { world } = fake
        world.now = () => new Date(now())
        for (const [index, name] of SERVICES.entries()) world.addService(idOf(index), name)
        for (let number = 0; number < 6; number++) APPLY.trigger(world, number % 3, number)
        for (const incident of world.incidents.slice(0, 3)) world.resolve(incident)
        return fake
      },
      connection: (endpoint) => ({ endpoint, token: TOKEN }),
      change({ world }: FakePagerduty, name, parameters, { send }) {
        const before = world.events.length
        APPLY[name as keyof typeof CHANGES](world, ...parameters)
        for (const payload of world.events.slice(before)) send({ event: payload.event.event_type, payload })
      },
    }),
}
