/** Clients that hold connections and send nothing, or send slowly, or want to watch forever. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeOneWithTables } from '../support/databases.ts'

const SLOW = 60
const MOST = 80
const UNUSED = 65

describeOneWithTables('sockets', (test) => {
  let api: TestApi
  let address: string
  /** Opens a connection that sends this text, and collects everything until it is closed. */
  function open(sent = ''): { readonly socket: Socket; readonly answer: Promise<string> } {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    const answer = new Promise<string>((done) => {
      let text = ''
      socket.on('error', () => {}).on('data', (piece) => (text += piece))
      socket.once('close', () => done(text))
    })
    if (sent) socket.write(sent)
    return { socket, answer }
  }
  beforeAll(async () => {
    const limits = { HEADER_TIMEOUT: '500ms', REQUEST_TIMEOUT: '1s', KEEP_ALIVE_TIMEOUT: '500ms' }
    const counts = { MAX_CONNECTIONS: String(MOST), MAX_EVENT_STREAMS: '2', MAX_UNUSED_CONNECTIONS: String(UNUSED) }
    api = await startTestApi(test.database, { ...limits, ...counts })
    address = await api.server.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => api.close())

  it('nothing, half a head and half a body are answered 408 and closed', async () => {
    const head =
      'POST /projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n'
    const starts = ['', 'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ', `${head}{"name":`]
    const sockets = Array.from({ length: SLOW }, (_, index) => open(starts[index % starts.length]))
    // An occasional byte does not keep a connection open.
    const drip = setInterval(() => sockets.forEach(({ socket }) => void (socket.writable && socket.write('x'))), 100)
    expect((await fetch(`${address}/ping`)).status).toBe(200)
    const answers = await Promise.all(sockets.map(({ answer }) => answer))
    clearInterval(drip)
    for (const answer of answers.filter((each) => each !== ''))
      expect(answer).toMatch(/^HTTP\/1.1 4\d\d .*"success":false/s)
    expect(answers.filter((each) => each.startsWith('HTTP/1.1 408')).length).toBeGreaterThan(SLOW / 3)
  })

  it('a connection that waits for its next request is closed', async () => {
    const answer = await open('GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n').answer
    expect(answer).toMatch(/^HTTP\/1.1 200/)
  })

  it('what is no HTTP, or has too long a head, is refused with a sentence', async () => {
    expect(await open('hello\r\n\r\n').answer).toMatch(/^HTTP\/1.1 400 .*This is not HTTP/s)
    const long = `GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`
    expect(await open(long).answer).toMatch(/^HTTP\/1.1 431 .*too long: shorten/s)
  })

  it('more connections than may be are closed at once, and there is room again afterwards', async () => {
    const sockets = Array.from({ length: MOST + 20 }, () => open())
    await Promise.all(sockets.map(({ answer }) => answer))
    expect((await fetch(`${address}/ping`)).status).toBe(200)
  })

  const half = 'HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"name":'
  it.each([
    ['nothing', ''],
    ['half a head', 'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
    ['half a body', `POST /projects ${half}`],
    ['half a body to a route that takes none', `GET /ping ${half}`],
    ['half a body that is refused already', `POST /nothere ${half}`],
    ['a request, and then nothing', 'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
  ])('one address cannot hold all places with %s', async (_what, sent) => {
    const held = Array.from({ length: 3 * UNUSED }, () => open(sent))
    for (let count = 0; count < 10; count++) {
      expect((await fetch(`${address}/ping`, { headers: { connection: 'close' } })).status).toBe(200)
    }
    for (const { socket } of held) socket.destroy()
    await Promise.all(held.map(({ answer }) => answer))
  })

  it('large bodies that come slowly have few places, and small ones need none', async () => {
    const connection = { name: 'slow', endpoint: 'http://127.0.0.1:1/', token: 'a-token-for-nobody' }
    const { id } = (await api.ask('POST', '/plugins/github/connections', connection)).body
    const path = `/v1/plugins/github/connections/${id}/deliveries`
    await api.ask('POST', `${path}/secret`)
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`
    const large = `${head}Content-Length: 20000000\r\n\r\n{`
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`
    const places = [large, chunked, large, chunked, large, chunked, large, chunked].map((sent) => open(sent))
    const next = async (sent: string) => {
      const one = open(sent)
      const answer = await Promise.race([one.answer, once(one.socket, 'data').then(String)])
      one.socket.destroy()
      return answer
    }
    await expect.poll(() => next(chunked)).toMatch(/^HTTP\/1.1 503 .*retry-after: \d.*Too many large bodies/s)
    expect(await next(large)).toMatch(/^HTTP\/1.1 503 /)
    expect((await fetch(address + path, { method: 'POST', body: '{}' })).status).toBe(401)
    for (const { socket } of places) socket.destroy()
    await expect
      .poll(async () => (await fetch(address + path, { method: 'POST', body: Buffer.alloc(5_000_000, ' ') })).status)
      .toBe(401)
  })

  it('more event streams than may be get 503, and there is room when one ends', async () => {
    const plan = [[{ plugin: 'dora', options: { projectName: 'none' } }]]
    const { body } = await api.ask('POST', '/pipelines', { name: 'watched', plan })
    const events = `${address}/v1/pipelines/${body.id}/events`
    const aborts = [new AbortController(), new AbortController()]
    for (const { signal } of aborts) expect((await fetch(events, { signal })).status).toBe(200)
    const refused = await fetch(events)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
    expect(((await refused.json()) as { message: string }).message).toMatch(/2 streams of events or logs are open/)
    aborts[0]!.abort()
    await expect
      .poll(async () => {
        const abort = new AbortController()
        const { status } = await fetch(events, { signal: abort.signal })
        abort.abort()
        return status
      })
      .toBe(200)
    aborts[1]!.abort()
  })

  it('when nobody was answered for half a second, the log says so, and which requests were there', async () => {
    const plan = [[{ plugin: 'dora', options: { projectName: 'none' } }]]
    const { body } = await api.ask('POST', '/pipelines', { name: 'watched', plan })
    const abort = new AbortController()
    const { signal } = abort
    expect((await fetch(`${address}/v1/pipelines/${body.id}/events`, { signal })).status).toBe(200)
    const until = performance.now() + 1200
    while (performance.now() < until);
    const told = () => (api.log().match(/.*nobody was answered for \d+ ms.*/g) ?? []).map((line) => JSON.parse(line))
    const routes = () => told().flatMap(({ requests }) => requests.map(({ route }: { route: string }) => route))
    await expect.poll(routes).toContain('GET /v1/pipelines/:id/events')
    abort.abort()
  })
})
