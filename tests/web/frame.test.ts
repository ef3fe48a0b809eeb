import { expect, it, onTestFinished } from 'vitest'
import { startLiveServer } from '../api/support/live-server.ts'
import { describeClient, describeOwnServer } from './support/client.ts'

const ROOMS = ['Overview', 'Projects', 'Dashboards', 'Sources', 'Runs', 'Data', 'Traffic', 'Settings']

describeClient('the frame of the pages', ({ open, expectComplaint, database }) => {
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

  it('does what can be done from anywhere', async () => {
    const page = await open('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Go to', { exact: true }).fill('theme: dark')
    await page.getByRole('button', { name: 'Theme: dark' }).click()
    await page.locator('[data-mantine-color-scheme="dark"]').waitFor()
    await page.getByLabel('Go to', { exact: true }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByLabel('Go to', { exact: true }).fill('create api')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).waitFor()
  })

  it('folds to icons and stays so', async () => {
    const page = await open('/runs')
    await page.getByRole('button', { name: 'Fold to icons' }).click()
    await page.locator('.frame.folded').waitFor()
    await page.reload()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Traffic' }).click()
    await page.getByRole('heading', { level: 1, name: 'Traffic' }).waitFor()
    await page.getByRole('button', { name: 'Show the names of the pages' }).click()
    await page.locator('.frame:not(.folded)').waitFor()
  })

  it('fits a phone: a bar, and the rest behind More', async () => {
    const page = await open('/', { viewport: { width: 390, height: 844 } })
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('says so when the server is away, and continues when it is back', async () => {
    expectComplaint('ERR_')
    const url = await database.createDatabase()
    const first = await startLiveServer(url)
    onTestFinished(() => first.stop())
    const port = new URL(first.url).port
    const page = await open('/')
    await page.goto(`${first.url}/settings/configuration`)
    await page.getByRole('textbox', { name: 'File' }).fill('projects: {}')
    await first.stop()
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page.getByText('this page continues by itself when it is back').waitFor()
    const second = await startLiveServer(url, { PORT: port }, first.dataFolder)
    onTestFinished(() => second.stop())
    await page.getByText('this page continues by itself when it is back').waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'File' }).inputValue()).toBe('projects: {}')
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page.getByText('everything matches the file').waitFor()
    await page.close()
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

const TOKEN = 'a-token-that-nobody-guesses'

describeOwnServer(
  'signing in',
  ({ open, expectComplaint }) => {
    it('asks for the token, and shows the page that was asked for', async () => {
      expectComplaint('401')
      const page = await open('/runs')
      await page.getByLabel('Access token').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('This is not the access token').waitFor()
      await page.getByLabel('Access token').fill(TOKEN)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    })

    it('asks again over the page when the session ends, and nothing typed is lost', async () => {
      expectComplaint('401')
      const page = await open('/settings/configuration')
      const signIn = async () => {
        await page.getByLabel('Access token').fill(TOKEN)
        await page.getByRole('button', { name: 'Sign in' }).click()
      }
      await signIn()
      await page.getByRole('textbox', { name: 'File' }).fill('projects: {}')
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByText('Your session ended').waitFor()
      await signIn()
      await page.getByText('Your session ended').waitFor({ state: 'detached' })
      expect(await page.getByRole('textbox', { name: 'File' }).inputValue()).toBe('projects: {}')
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByText('everything matches the file').waitFor()
    })

    it('ends with signing out', async () => {
      // A request that the page sends at that very moment is refused.
      expectComplaint('401')
      const page = await open('/')
      await page.getByLabel('Access token').fill(TOKEN)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: /theme and sign out/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in to Weir' }).waitFor()
    })
  },
  { AUTH: 'token', AUTH_TOKEN: TOKEN },
)
