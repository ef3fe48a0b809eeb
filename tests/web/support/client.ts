/** The real server and its pages in Chromium. Nothing between them is made up. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type LiveServer, startLiveServer } from '../../api/support/live-server.ts'
import { describeOneDatabase, type TestDatabase } from '../../support/databases.ts'
import { sharedBrowser } from './browser.ts'

export interface Client {
  readonly database: TestDatabase
  readonly server: LiveServer
  /** Opens an address of the server in a window of its own; a page that throws or logs an error fails the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** What pages may complain about in this test: a part of the message, such as that of an answer that is refused. */
  expectComplaint(part: string): void
}

export const LONGEST_MS = 100_000

/** What pages ask for is tested on both databases by the tests of its routes: one of the two is enough to see the pages. */
export function describeClient(
  name: string,
  body: (client: Client) => void,
  environment: Record<string, string> = {},
): void {
  describeOneDatabase(name, (database) => {
    let server: LiveServer
    let browser: Browser
    const complaints: string[] = []
    const expected: string[] = []
    beforeAll(async () => {
      ;[server, browser] = await Promise.all([startLiveServer(database.url, environment), sharedBrowser()])
    })
    afterEach(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()))
      const unexpected = complaints.filter((complaint) => !expected.some((part) => complaint.includes(part)))
      complaints.length = 0
      expected.length = 0
      expect(unexpected).toEqual([])
    })
    afterAll(async () => {
      await server?.stop()
    })
    body({
      database,
      get server() {
        return server
      },
      async open(path, options = {}) {
        const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
        // For what hangs; on a machine with other work, pages take their time.
        context.setDefaultTimeout(LONGEST_MS)
        const page = await context.newPage()
        page.on('pageerror', ({ message }) => complaints.push(message))
        page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
        await page.goto(server.url + path)
        return page
      },
      expectComplaint: (part) => void expected.push(part),
    })
  })
}
