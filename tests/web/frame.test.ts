import { expect, it } from 'vitest'
import { describeClient } from './support/client.ts'

const ROOMS = ['Overview', 'Projects', 'Sources', 'Runs', 'Data', 'Traffic', 'Settings']

describeClient('the frame of the pages', ({ open }) => {
  it('leads to every room, by clicks and by addresses', async () => {
    const page = await open('/')
    for (const room of ROOMS) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: room }).click()
      await page.getByRole('heading', { level: 1, name: room }).waitFor()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: room }).waitFor()
    }
  })

  it('finds pages by their name', async () => {
    const page = await open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Go to a page').fill('sett')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  })

  it('says so where an address leads nowhere', async () => {
    const page = await open('/projects/none/of/these')
    await page.getByText('The address leads nowhere').waitFor()
  })

  it('leaves the addresses of the API to programs', async () => {
    const page = await open('/')
    const answer = await page.request.get(new URL('/projects', page.url()).href, { headers: { accept: '*/*' } })
    expect(await answer.json()).toMatchObject({ count: 0 })
  })

  it('transfers less than 500 KB at first', async () => {
    const page = await open('/')
    await page.waitForLoadState('networkidle')
    const bytes: number = await page.evaluate(`
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .reduce((sum, { transferSize }) => sum + transferSize, 0)`)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(500_000)
  })
})
