/** Runs in the browser: followed live, cancelled, run again, explained when they fail, through restarts of the server. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newDataFolder, startLiveServer } from '../api/support/live-server.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { sharedBrowser } from './support/browser.ts'
import { describeClient, LONGEST_MS } from './support/client.ts'
import { createQuickShop, type QuickShop } from './support/quick-shop.ts'
import { ask } from './support/shop.ts'

const amounts = { issues: 6, pullRequests: 6, workflowRuns: 4, commits: 4, deployments: 2, releases: 1 }
const startShopGithub = () => startFakeGithub({ world: { repositories: [{ name: 'acme/web', ...amounts }] } })

/** Finds the state of the run in the page's header. */
const state = (page: Page, word: string) => page.locator('header.head').getByText(word, { exact: true })
const details = (page: Page) => page.getByRole('region', { name: 'GitHub · acme/web' })

describeClient('runs', (client) => {
  let github: FakeGithub
  let shop: QuickShop
  beforeAll(async () => {
    github = await startShopGithub()
    shop = await createQuickShop(client.server, github)
  })
  afterAll(() => github?.stop())

  it('says what to do when there is none, and finds none that are not there', async () => {
    const page = await client.open('/runs')
    await page.getByText('Nothing has run yet').waitFor()
    await page.goto(`${client.server.url}/runs?words=nothing&state=failed`)
    await page.getByText('No run matches').waitFor()
    await page.getByRole('link', { name: 'Show all runs' }).click()
    await page.getByText('Nothing has run yet').waitFor()
    client.expectComplaint('404')
    await page.goto(`${client.server.url}/runs/4711`)
    await page.getByText('This no longer exists').waitFor()
  })

  it('follows a run to its end without being asked to', async () => {
    github.failNext('slow', { path: '/issues', delayMilliseconds: 3_000 })
    const id = await shop.run()
    const page = await client.open(`/runs/${id}`)
    await details(page).getByRole('progressbar', { name: 'Progress of this task' }).waitFor()
    await page.getByRole('link', { name: 'shop' }).first().waitFor()
    await state(page, 'done').waitFor()
    await page.getByRole('link', { name: /GitHub · acme\/web/ }).click()
    await details(page).getByRole('cell', { name: 'Collect pull requests' }).waitFor()
    const issues = details(page).getByRole('row', { name: /^Collect issues/ })
    expect(await issues.textContent()).toMatch(/done.*12/)
    await page.getByRole('button', { name: /Show all \d+ steps/ }).click()
    await details(page).getByRole('cell', { name: 'Convert issues' }).waitFor()
    expect(page.url()).toContain('task=')
  })

  it('searches the log, and keeps what was searched for in the address', async () => {
    const id = await shop.run()
    const page = await client.open(`/runs/${id}`)
    await state(page, 'done').waitFor()
    await page.getByRole('link', { name: /GitHub · acme\/web/ }).click()
    await page.getByLabel('Lines of the log').getByText('begins: github').waitFor()
    await page.getByLabel('Find in the log').fill('Collect Pull Requests')
    await page.getByText(/^[1-9]\d* of [1-9]\d* lines have “Collect Pull Requests”/).waitFor()
    await expect.poll(() => page.url()).toContain('find=Collect')
    await page.reload()
    await page.getByText(/^[1-9]\d* of [1-9]\d* lines have “Collect Pull Requests”/).waitFor()
    await page.getByLabel('Find in the log').fill('no line has this')
    await page.getByText(/^0 of/).waitFor()
  })

  it('cancels a run and runs the rest of it later', async () => {
    github.failNext('slow', { path: '/issues', delayMilliseconds: 60_000 })
    const id = await shop.run()
    const page = await client.open(`/runs/${id}`)
    await details(page).getByRole('progressbar', { name: 'Progress of this task' }).waitFor()
    // Otherwise the slow answer would hit the next run.
    await expect.poll(() => github.waitingFaults, { timeout: LONGEST_MS }).toBe(0)
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await state(page, 'cancelled').waitFor()
    await page.getByText('What it had collected stays').waitFor()
    await page.getByRole('button', { name: 'Run the rest' }).click()
    await state(page, 'done').waitFor()
    await page.goto(`${client.server.url}/runs`)
    await page
      .getByRole('row', { name: /shop-Blueprint/ })
      .first()
      .waitFor()
    await page.getByRole('combobox', { name: 'State' }).click()
    await page.getByRole('option', { name: 'Cancelled' }).click()
    await page.getByText('No run matches').waitFor()
    expect(page.url()).toContain('state=cancelled')
  })

  it('leads from a failure to the connection, and runs one task again', async () => {
    const path = `/plugins/github/connections/${shop.connectionId}`
    await ask(client.server, 'PATCH', path, { token: 'a-token-that-nobody-knows' })
    const id = await shop.run()
    const page = await client.open(`/runs/${id}`)
    await state(page, 'partly done').or(state(page, 'failed')).waitFor()
    const alert = page.getByRole('alert').filter({ hasText: 'acme/web could not be finished' })
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/token|401/i)
    const link = alert.getByRole('link', { name: 'Check connection' })
    expect(await link.getAttribute('href')).toBe(`/sources/github/${shop.connectionId}`)
    // The lists that arrived are complete, but the failed task is still reported.
    await page.goto(`${client.server.url}/runs/health`)
    const failed = page.getByRole('region', { name: 'Tasks that failed' })
    await failed.getByRole('heading', { name: /acme\/web/ }).waitFor()
    expect(await failed.textContent()).toMatch(/token|401/i)
    expect(await page.getByText('Nothing is missing').count()).toBe(0)
    await failed.getByRole('link', { name: 'Show the task' }).first().click()
    await alert.waitFor()

    await ask(client.server, 'PATCH', path, { token: DEFAULT_TOKEN })
    await alert.getByRole('button', { name: 'Run this task again' }).click()
    await state(page, 'done').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})

describeClient('what is missing', (client) => {
  let circleci: FakeCircleci
  let blueprintId = 0
  const run = async () => (await ask(client.server, 'POST', `/blueprints/${blueprintId}/trigger`)).id
  beforeAll(async () => {
    circleci = await startFakeCircleci(5)
    const settings = { name: 'ci', endpoint: circleci.url, token: TOKEN }
    const { id: connectionId } = await ask(client.server, 'POST', '/plugins/circleci/connections', settings)
    const scope = { id: 'u1', slug: 'github/acme/web', name: 'web' }
    await ask(client.server, 'PUT', `/plugins/circleci/connections/${connectionId}/scopes`, { data: [scope] })
    const connections = [{ pluginName: 'circleci', connectionId, scopes: [{ scopeId: 'u1' }] }]
    const blueprint = { isManual: true, timeAfter: '2015-01-01T00:00:00Z', connections }
    const project = await ask(client.server, 'POST', '/projects', { name: 'web', blueprint })
    blueprintId = project.blueprint.id
  })
  afterAll(() => circleci?.stop())

  it('shows gaps of a run and of everything, and asks again', async () => {
    circleci.failures.push(...Array(60).fill({ path: '/workflow/workflow-of-pipeline-3/job', status: 403 }))
    const page = await client.open(`/runs/${await run()}`)
    await state(page, 'done').waitFor()
    await page.getByRole('link', { name: /CircleCI · web/ }).click()
    await page.getByText('1 gap: the source has more than came').waitFor()
    await page.goto(`${client.server.url}/runs/health`)
    await page.getByText('is forbidden: 403').waitFor()
    circleci.failures.length = 0
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.getByRole('heading', { name: /What is missing, again/ }).waitFor()
    await state(page, 'done').waitFor()
    await page.goto(`${client.server.url}/runs/health`)
    await page.getByText('Nothing is missing').waitFor()
    await page.getByRole('tab', { name: /All receipts/ }).click()
    await page.getByRole('cell', { name: 'Collect jobs' }).waitFor()
  })

  it('shows what was put aside with its reason, and tries it again', async () => {
    const first = circleci.pipelines[0] as { created_at: string }
    const right = first.created_at
    first.created_at = 'not a time'
    const page = await client.open(`/runs/${await run()}`)
    await state(page, 'done').waitFor()
    await page.getByRole('link', { name: /CircleCI · web/ }).click()
    await page.getByText('1 record put aside').waitFor()
    await page.getByRole('link', { name: 'Show which, and why' }).click()
    await page.getByText(/not a time/).waitFor()
    await page.getByRole('link', { name: 'Show record' }).click()
    await page.getByRole('dialog').getByText('“not a time”').waitFor()
    await page.goBack()
    first.created_at = right
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: /What was put aside, again/ }).waitFor()
    await state(page, 'done').waitFor()
  })
})

// tests/pipelines/kill.test.ts checks on both databases that a run continues.
describeOneWithTables('a page of a run whose server is started again', (test) => {
  let browser: Browser
  let github: FakeGithub
  beforeAll(async () => {
    ;[browser, github] = await Promise.all([sharedBrowser(), startShopGithub()])
  })
  afterAll(() => github?.stop())

  it('says so, and continues by itself', async () => {
    const folder = newDataFolder()
    const first = await startLiveServer(test.url, {}, folder)
    const shop = await createQuickShop(first, github)
    github.failNext('slow', { path: '/issues', delayMilliseconds: 60_000 })
    const id = await shop.run()
    const page = await browser.newPage()
    page.setDefaultTimeout(LONGEST_MS)
    await page.goto(`${first.url}/runs/${id}`)
    await details(page)
      .getByRole('row', { name: /Collect events running/ })
      .waitFor()
    await expect.poll(() => github.waitingFaults, { timeout: LONGEST_MS }).toBe(0)
    await first.stop()
    await page.getByText('The server does not answer.').waitFor()
    await details(page).waitFor()
    const second = await startLiveServer(test.url, { PORT: new URL(first.url).port }, folder)
    try {
      await state(page, 'done').waitFor()
      // Each part of the page notices separately, not all at the same moment.
      await expect.poll(() => page.getByText('The server does not answer.').count(), { timeout: LONGEST_MS }).toBe(0)
    } finally {
      await second.stop()
      await page.close()
    }
  })
})
