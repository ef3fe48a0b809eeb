import type { FakeGithub } from './fake-github.ts'
import { type Answer, ok, refusal } from './rest/exchange.ts'
import type { Received } from './service.ts'

/** The state that a fake in another process reports. */
export interface FakeState {
  readonly entries: FakeGithub['requests']['entries']
  readonly violations: FakeGithub['violations']
  readonly peakConcurrency: number
  readonly memoryMegabytes: number
}

/** Lets the process that started a fake steer and inspect it; see spawn.ts. */
export function answerControl(fake: FakeGithub, { path, body }: Received): Answer {
  const given = body === '' ? [] : JSON.parse(body)
  switch (path) {
    case '/_fake/state': {
      const { requests, violations, peakConcurrency } = fake
      const memoryMegabytes = Math.round(process.memoryUsage.rss() / 1e6)
      return ok({ entries: requests.entries, violations, peakConcurrency, memoryMegabytes } satisfies FakeState)
    }
    case '/_fake/update': {
      const [change, now] = given
      fake.clock.set(now)
      return ok(fake.update(change) ?? {})
    }
    case '/_fake/fail-next':
      fake.failNext(given[0], given[1])
      return ok({})
    case '/_fake/revoke':
      fake.revoke(given[0])
      return ok({})
    case '/_fake/clear':
      fake.requests.clear()
      return ok({})
    default:
      return refusal(404, `no such control: ${path}`)
  }
}
