/** Every page, light and dark, passes axe-core, also with unusual names. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { problemsOfAccess } from './support/access.ts'
import { describeClient } from './support/client.ts'
import { type Filled, fill, ODD_NAME } from './support/filled.ts'
import { addressOf, oddly, placesOfPages, settled } from './support/pages.ts'

/** Two dozen pages, on a machine that is also busy otherwise. */
const PATIENCE_MS = 600_000

describeClient('every page', (client) => {
  let filled: Filled
  beforeAll(async () => {
    filled = await fill(client.server)
  }, PATIENCE_MS)
  afterAll(() => filled?.stop())

  it('has no serious problem of access, light or dark', { timeout: PATIENCE_MS }, async () => {
    const page = await client.open('/', { colorScheme: 'light' })
    const found = new Set<string>()
    for (const path of placesOfPages) {
      await page.goto(client.server.url + addressOf(path, filled))
      for (const problem of await problemsOfAccess(page, () => settled(page))) found.add(`${path}, ${problem}`)
    }
    expect([...found]).toEqual([])
  })

  it('shows names of any kind, on a phone without scrolling sideways', { timeout: PATIENCE_MS }, async () => {
    const page = await client.open('/', { viewport: { width: 390, height: 844 } })
    for (const path of placesOfPages) {
      await page.goto(client.server.url + addressOf(path, oddly(filled)))
      await settled(page)
      const text = (await page.locator('main').textContent()) ?? ''
      expect(text.length, `${path} is blank`).toBeGreaterThan(20)
      const beyond: number = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(beyond, `${path} scrolls sideways`).toBeLessThanOrEqual(0)
    }
    await page.goto(client.server.url + addressOf('/projects/$name', oddly(filled)))
    await settled(page)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(ODD_NAME)
  })
})
