import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBudget, createRate } from './budget.ts'
import { createSharedConnections } from './shared-connections.ts'
import { createTestClient, createTestClock, never, startServer } from './test-support.ts'

const HOUR = 3_600_000
const nobody = () => undefined

describe('a rate', () => {
  test('never lets more than its number start within any window of its length', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 200_000 }), { minLength: 50, maxLength: 400 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), pauses, (requests, gaps) => {
        const rate = createRate(requests, HOUR)
        const starts: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          starts.push(now + rate.reserve(now))
        }
        starts.sort((a, b) => a - b)
        for (let index = requests; index < starts.length; index++) {
          // Starts at both ends of a window are an hour apart, apart from rounding errors.
          expect(starts[index]! - starts[index - requests]!).toBeGreaterThanOrEqual(HOUR - 0.001)
        }
      }),
    )
  })

  test('lets a sixtieth go at once, then spaces evenly', () => {
    const rate = createRate(3600, HOUR)
    const waits = Array.from({ length: 62 }, () => rate.reserve(0))
    expect(waits.slice(0, 60)).toEqual(new Array(60).fill(0))
    expect(waits[60]).toBeCloseTo(HOUR / 3541, 6)
    expect(waits[61]).toBeCloseTo((2 * HOUR) / 3541, 6)
  })
})

describe('a budget', () => {
  test('holds the rate set on the connection, and says so', async () => {
    const server = await startServer(() => ({ body: {} }))
    const client = createTestClient(server.endpoint, { limits: { requestsPerHour: 60 } })
    const start = client.clock.now()
    for (let count = 0; count < 10; count++) await client.send({ path: '/' }, never)
    expect(client.clock.now() - start).toBe(9 * 60_000)
    expect(client.usage).toMatchObject({ requests: 10, waits: 9 })
    expect(client.events[0]).toMatchObject({ kind: 'waiting', until: new Date(start + 60_000) })
  })

  test('bounds the requests under way', async () => {
    let open = 0
    let most = 0
    const server = await startServer(() => (response) => {
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        response.end('{}')
      })
    })
    const client = createTestClient(server.endpoint, { limits: { concurrency: 3 } })
    await Promise.all(Array.from({ length: 20 }, () => client.send({ path: '/' }, never)))
    expect(server.received.length).toBe(20)
    expect(most).toBeLessThanOrEqual(3)
    expect(most).toBeGreaterThan(1)
  })

  test('lets one class pass while another waits', async () => {
    const waiting = new Set<() => void>()
    const clock = { ...createTestClock(), sleep: () => new Promise<void>((resolve) => waiting.add(resolve)) }
    const budget = createBudget({ concurrency: 1, classes: { search: { requestsPerMinute: 1 } } }, clock)
    const leaveFirst = await budget.enter('search', never, nobody)
    leaveFirst()
    const second = budget.enter('search', never, nobody)
    const leaveCore = await budget.enter('core', never, nobody)
    leaveCore()
    expect(waiting.size).toBe(1)
    for (const wake of waiting) wake()
    const leaveSecond = await second
    leaveSecond()
  })

  test('gives back place and turn when aborted', async () => {
    const clock = createTestClock()
    const budget = createBudget({ concurrency: 1, requestsPerHour: 60 }, clock)
    const leave = await budget.enter('core', never, nobody)
    const abort = new AbortController()
    const queued = budget.enter('core', abort.signal, nobody)
    abort.abort(new Error('enough'))
    await expect(queued).rejects.toThrow('enough')
    leave()
    await expect(budget.enter('core', AbortSignal.abort(new Error('late')), nobody)).rejects.toThrow('late')
    const start = clock.now()
    const leaveNext = await budget.enter('core', never, nobody)
    expect(clock.now() - start).toBe(60_000)
    leaveNext()
  })

  test('gives back place and turn when the wait for a turn ends by an error', async () => {
    const clock = createTestClock()
    let isStopped = false
    const stopping = {
      ...clock,
      sleep: async (milliseconds: number, signal: AbortSignal) => {
        if (isStopped) throw new Error('stopped')
        return clock.sleep(milliseconds, signal)
      },
    }
    const limits = { concurrency: 1, requestsPerHour: 60, classes: { search: { concurrency: 1 } } }
    const budget = createBudget(limits, stopping)
    const leave = await budget.enter('search', never, nobody)
    leave()
    // Without its place, a request would wait for ever.
    const soon = AbortSignal.timeout(10_000)
    isStopped = true
    await expect(budget.enter('search', soon, nobody)).rejects.toThrow('stopped')
    isStopped = false
    const start = clock.now()
    const leaveNext = await budget.enter('search', soon, nobody)
    expect(clock.now() - start).toBe(60_000)
    leaveNext()
  })
})

test('clients of one connection share rate and quota while any is open, and start afresh when it is edited', async () => {
  const server = await startServer(() => ({ body: {} }))
  const connections = createSharedConnections()
  const clock = createTestClock()
  const open = (token: string) =>
    createTestClient(server.endpoint, {
      clock,
      credentials: [token],
      limits: { requestsPerHour: 60 },
      share: { connections, key: 'github:1' },
    })
  const one = open('token-1')
  await one.send({ path: '/' }, never)
  const two = open('token-1')
  await two.send({ path: '/' }, never)
  expect(clock.sleeps).toEqual([60_000])
  const edited = open('token-2')
  await edited.send({ path: '/' }, never)
  expect(clock.sleeps).toEqual([60_000])
})

test('a budget from outside replaces our own', async () => {
  const server = await startServer(() => ({ body: {} }))
  const entered: string[] = []
  const budget = {
    enter: async (className: string) => {
      entered.push(className)
      return () => void entered.push('left')
    },
  }
  const client = createTestClient(server.endpoint, { budget, limits: { requestsPerHour: 1 } })
  await client.send({ path: '/', class: 'search' }, never)
  await client.send({ path: '/' }, never)
  expect(entered).toEqual(['search', 'left', 'core', 'left'])
})
