/** The real server and its pages in Chromium, without fakes between them. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type LiveServer, startLiveServer } from '../../api/support/live-server.ts'
import { describeOneDatabase, describeOneWithTables, type TestDatabase } from '../../support/databases.ts'
import { sharedBrowser } from './browser.ts'
import { leaveServer, type Standing, takeServer } from './standing.ts'

export interface Client {
  readonly database: TestDatabase
  readonly server: LiveServer
  /** Opens an address of the server in a new window. A page that throws or logs an error fails the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Allows a complaint of pages in this test. `part` is a part of its message, such as that of a refused answer. */
  expectComplaint(part: string): void
}

export const LONGEST_MS = 100_000

type Body = (client: Client) => void
type Environment = Readonly<Record<string, string>>
type Place = Pick<Client, 'database' | 'server'>

/**
 * Describes tests of pages on one database: their requests are tested on both by the tests of the routes. The blocks share a
 * server one after the other, and each begins with empty tables.
 */
export function describeClient(name: string, body: Body): void {
  describeOneDatabase(name, (test) => {
    let standing: Standing
    const database: TestDatabase = {
      engine: test.engine,
      createDatabase: test.createDatabase,
      createWithTables: test.createWithTables,
      get url() {
        return standing.url
      },
      get database() {
        return standing.database
      },
    }
    beforeAll(async () => {
      standing = await takeServer(test.engine)
    })
    afterAll(() => leaveServer(test.engine))
    declare(body, {
      database,
      get server() {
        return standing.server
      },
    })
  })
}

/** Describes a block that needs its own server settings. */
export function describeOwnServer(name: string, body: Body, environment: Environment = {}): void {
  describeOneWithTables(name, (database) => {
    let server: LiveServer
    beforeAll(async () => {
      server = await startLiveServer(database.url, environment)
    })
    afterAll(() => server?.stop())
    declare(body, {
      database,
      get server() {
        return server
      },
    })
  })
}

function declare(body: Body, place: Place): void {
  let browser: Browser
  const complaints: string[] = []
  const expected: string[] = []
  beforeAll(async () => {
    browser = await sharedBrowser()
  })
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    const unexpected = complaints.filter((complaint) => !expected.some((part) => complaint.includes(part)))
    complaints.length = 0
    expected.length = 0
    expect(unexpected).toEqual([])
  })
  body({
    database: place.database,
    get server() {
      return place.server
    },
    async open(path, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      // The limit catches pages that hang. On a busy machine, pages need more time.
      context.setDefaultTimeout(LONGEST_MS)
      const page = await context.newPage()
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(place.server.url + path)
      return page
    },
    expectComplaint: (part) => void expected.push(part),
  })
}
