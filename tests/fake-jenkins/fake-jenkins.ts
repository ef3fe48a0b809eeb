/**
 * The part of Jenkins that the plugin uses, over real HTTP: `api/json` with `tree` and its ranges, stages by `wfapi`, a
 * prefix before every path, basic authentication, and a login page if it fails. Faults come on demand.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BadTree, listOf, parseTree, picked } from './tree.ts'
import { createWorld, type FakeBuild, type FakeItem } from './world.ts'

export const USER = 'ada'
export const TOKEN = '11a0b1c2d3e4f5'
export const PREFIX = '/jenkins'
const LOGIN = `<html><head><title>Sign in [Jenkins]</title></head><body><form action="j_spring_security_check"></form></body></html>`

export type FakeJenkins = Awaited<ReturnType<typeof startFakeJenkins>>

export async function startFakeJenkins() {
  const world = createWorld()
  const fake = Object.assign(world, {
    /** The requested paths with their queries, decoded. */
    requests: [] as string[],
    /** Statuses for the next requests whose path contains the text. 200 means a login page. */
    failures: [] as { path: string; status: number }[],
    /** Full names of items that the user may not see. */
    hidden: new Set<string>(),
    /** Whether stages are available. They come from a plugin that some servers lack. */
    hasStages: true,
    /** The delay of every answer. */
    latencyMilliseconds: 0,
    /** Called before each request is answered. */
    onRequest: () => {},
  })
  let address = ''
  const isHidden = (name: string) => [...fake.hidden].some((each) => name === each || name.startsWith(`${each}/`))
  const urlOf = (fullName: string) => `${address}${pathOf(fullName)}`

  function shownBuild(item: FakeItem, build: FakeBuild) {
    const { stages: _, ...told } = build
    const display = `${item.fullName.replaceAll('/', ' » ')} #${build.number}`
    return { ...told, url: `${urlOf(item.fullName)}${build.number}/`, fullDisplayName: display }
  }
  /** Lists are made only when they are read. */
  function shownItem(item: FakeItem): object {
    const { fullName, builds, _class, description } = item
    const name = fullName.slice(fullName.lastIndexOf('/') + 1)
    const plain = { _class, name, fullName, description, url: urlOf(fullName), color: builds ? 'blue' : undefined }
    if (!builds) return holder({ ...plain, primaryView: { name: 'All' } }, fullName)
    const [last] = builds
    return {
      ...plain,
      lastBuild: last ? shownBuild(item, last) : null,
      get allBuilds() {
        return listOf(builds, (build) => shownBuild(item, build))
      },
    }
  }
  const holder = (plain: object, fullName: string) => ({
    ...plain,
    get jobs() {
      const itself = fake.circular.has(fullName) ? [fake.items.get(fullName) as FakeItem] : []
      const own = fake.childrenOf(fullName).filter((each) => !isHidden(each.fullName))
      return listOf([...own, ...itself], shownItem)
    },
  })
  const root = () => holder({ _class: 'hudson.model.Hudson', nodeDescription: 'the built-in node' }, '')

  function answerTo(url: URL): Answer {
    const [, jobs = '', rest = ''] = /^((?:\/job\/[^/]+)*)\/?(.*)$/.exec(url.pathname.slice(PREFIX.length)) ?? []
    const fullName = jobs.split('/job/').filter(Boolean).map(decodeURIComponent).join('/')
    const item = fake.items.get(fullName)
    if (isHidden(fullName) || (fullName !== '' && !item)) return [404, notFound]
    if (rest === 'api/json') return told(item ? shownItem(item) : root(), url)
    const [, number = '', what] = /^(\d+|lastBuild)\/(api\/json|wfapi\/describe)$/.exec(rest) ?? []
    const build = number === 'lastBuild' ? item?.builds?.[0] : item?.builds?.find((each) => each.number === +number)
    if (!item || !build) return [404, notFound]
    if (what === 'api/json') return told(shownBuild(item, build), url)
    if (!build.stages || !fake.hasStages) return [404, notFound]
    return [200, { id: String(build.number), name: `#${build.number}`, status: build.result, stages: build.stages }]
  }
  function told(thing: object, url: URL): Answer {
    const tree = url.searchParams.get('tree')
    return [200, picked(thing, tree ? parseTree(tree) : [{ name: '*' }])]
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    fake.requests.push(decodeURIComponent(url.pathname + url.search))
    fake.onRequest()
    const isKnown = request.headers.authorization === `Basic ${Buffer.from(`${USER}:${TOKEN}`).toString('base64')}`
    const at = fake.failures.findIndex(({ path }) => decodeURIComponent(url.href).includes(path))
    const [failure] = at >= 0 ? fake.failures.splice(at, 1) : []
    const send = ([status, body]: Answer) => {
      const give = () => answer(response, status, body, fake.now())
      if (fake.latencyMilliseconds > 0) setTimeout(give, fake.latencyMilliseconds)
      else give()
    }
    if (failure) return send([failure.status, LOGIN])
    if (!isKnown) return send([401, LOGIN])
    if (!url.pathname.startsWith(`${PREFIX}/`)) return send([404, notFound])
    try {
      send(answerTo(url))
    } catch (error) {
      if (!(error instanceof BadTree)) throw error
      send([400, `<html>${error.message}</html>`])
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  address = `${origin}${PREFIX}/`
  return Object.assign(fake, {
    /** The address without the prefix of all paths. */
    url: `${origin}/`,
    endpoint: address,
    /** Sets an address that differs from the listening address, as behind a proxy. */
    setAddress: (other: string) => {
      address = other
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  })
}

type Answer = [status: number, body: unknown]
const notFound = '<html><body><h2>HTTP ERROR 404 Not Found</h2></body></html>'

/** A string body is sent as an HTML page, as Jenkins sends it to people. */
function answer(response: ServerResponse, status: number, body: unknown, now: Date): void {
  const isPage = typeof body === 'string'
  const type = isPage ? 'text/html;charset=utf-8' : 'application/json;charset=utf-8'
  response.writeHead(status, { 'content-type': type, 'x-jenkins': '2.462.3', date: now.toUTCString() })
  response.end(isPage ? body : JSON.stringify(body))
}

export const pathOf = (fullName: string): string =>
  fullName
    .split('/')
    .map((name) => `job/${encodeURIComponent(name)}/`)
    .join('')
