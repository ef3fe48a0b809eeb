/** Dashboards in a browser: their content, choices, and the data behind them. */
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { problemsOfAccess } from './support/access.ts'
import { describeClient, describeOwnServer } from './support/client.ts'
import { ask } from './support/shop.ts'

const TAKES_LONG = { timeout: 180_000 }
const STEPS = 40
const FROM = new Date(START - 10 * DAY).toISOString()
const TO = new Date(START + (STEPS + 10) * DAY).toISOString()
const RANGE = `from=${FROM}&to=${TO}`
const SHOP = `${RANGE}&var-project=project%200`

const panel = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const header = (token: string) => ({ authorization: `Bearer ${token}` })

describeClient('dashboards of nothing', ({ open }) => {
  it('say what to do where there is no project yet', async () => {
    const page = await open('/dashboards')
    await page.getByRole('link', { name: /DORA overview/ }).click()
    await page.getByRole('heading', { name: 'No project to choose yet' }).waitFor()
    await page.getByText('There is no project yet: create one, and collect.').waitFor()
    expect(await page.getByRole('link', { name: 'Start with a project' }).getAttribute('href')).toBe('/start')
  })
})

describeClient('dashboards', (client) => {
  const { open, expectComplaint } = client

  beforeAll(async () => {
    const { rows, truths } = plantOrganisation(2, STEPS)
    await write(client.database.database, rows)
    for (const { project } of truths) {
      await calculate(client.database.database, project)
      await ask(client.server, 'POST', '/projects', { name: project })
    }
  })

  it('lead nobody back who left while their choices were loading', TAKES_LONG, async () => {
    const page = await open('/dashboards')
    await page.getByRole('heading', { level: 1, name: 'Dashboards' }).waitFor()
    const held = { choices: Promise.withResolvers<void>(), nextPage: Promise.withResolvers<void>() }
    await page.route(/\/v1\/dashboards\/dora\/variables\//, async (route) => {
      await held.choices.promise
      await route.continue()
    })
    await page.getByRole('link', { name: /DORA overview/ }).click()
    await page.getByRole('heading', { level: 1, name: 'DORA overview' }).waitFor()
    await page.route(/\.js$/, async (route) => {
      await held.nextPage.promise
      await route.continue()
    })
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Data' }).click()
    await page.waitForURL('**/data')
    const answered = page.waitForResponse(/\/v1\/dashboards\/dora\/variables\//)
    held.choices.resolve()
    await (await answered).finished()
    // The page that is left draws its choices before the next page is let through.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))')
    held.nextPage.resolve()
    await page.getByRole('heading', { level: 1, name: 'Data', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/data')
  })

  it('show the numbers that metrics have, and keep what is chosen in the address', TAKES_LONG, async () => {
    const page = await open(`/dashboards/dora?${SHOP}`)
    const metric = async (name: string, project = 'project%200') =>
      (await ask(client.server, 'GET', `/v1/metrics/${name}?project=${project}&${RANGE}`)).values[0]
    const frequency = await metric('deployment-frequency')
    const failures = await metric('change-failure-rate')
    await panel(page, 'Deployment frequency').getByText(`of ${frequency.counted} items`).waitFor()
    await panel(page, 'Deployment frequency').getByText(`${frequency.value}days / week`).waitFor()
    await panel(page, 'Change failure rate')
      .getByText(`${Math.round(failures.value * 1000) / 10}%`, { exact: true })
      .waitFor()
    const lead = await metric('change-lead-time')
    const exact = `${lead.value.toLocaleString('en')} minutes`
    expect(await panel(page, 'Change lead time').first().getByTitle(exact).count()).toBe(1)

    await page.getByRole('combobox', { name: 'Interval' }).click()
    await page.getByRole('option', { name: 'week' }).click()
    await page.waitForURL(/var-interval=week/)
    await panel(page, 'Deployments').getByRole('button', { name: 'More about deployments' }).click()
    await page.getByRole('menuitem', { name: 'Show as table' }).click()
    const series = await ask(
      client.server,
      'GET',
      `/v1/metrics/deployment-frequency/series?project=project%200&${RANGE}&bucket=week`,
    )
    const cells = panel(page, 'Deployments').locator('tbody tr td:nth-child(2)')
    await cells.nth(series.points.length - 1).waitFor()
    expect(await cells.allTextContents()).toEqual(series.points.map(({ value }: any) => String(value)))

    await page.getByRole('button', { name: /2023 –/ }).click()
    await page.getByRole('button', { name: 'Last quarter' }).click()
    await page.waitForURL(/from=now-1Q%2FQ&to=now-1Q%2FQ/)
    await panel(page, 'Deployment frequency').getByText('No successful deployment to production').waitFor()
    await page.goBack()
    await page.reload()
    expect(new URL(page.url()).searchParams.get('var-interval')).toBe('week')
    await panel(page, 'Deployment frequency').getByText(`of ${frequency.counted} items`).waitFor()

    // The chosen project stays the same from dashboard to dashboard.
    await page.goto(`${client.server.url}/dashboards/dora?${RANGE}&var-project=project%201`)
    const other = await metric('deployment-frequency', 'project%201')
    await panel(page, 'Deployment frequency').getByText(`of ${other.counted} items`).waitFor()
    await page.goto(`${client.server.url}/dashboards`)
    await page.getByRole('link', { name: /DORA overview/ }).click()
    await page.waitForURL(/var-project=project(\+|%20)1/)
  })

  it('lead to the items, of all the time and of an interval', TAKES_LONG, async () => {
    const page = await open(`/dashboards/dora?${SHOP}&var-interval=week`)
    await panel(page, 'Deployment frequency').getByRole('button', { name: 'Explain deployment frequency' }).click()
    const drawer = page.getByRole('dialog')
    const { counted } = await ask(
      client.server,
      'GET',
      `/v1/metrics/deployment-frequency/explanation?project=project%200&${RANGE}`,
    )
    await drawer.getByRole('button', { name: `They count ${counted}` }).waitFor()
    await drawer.getByRole('button', { name: 'Close' }).click()
    await drawer.waitFor({ state: 'detached' })

    const chart = panel(page, 'Deployments').getByRole('img')
    await chart.locator('canvas').first().waitFor()
    const placeOf = async () => (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const { width, height } = await placeOf()
    await chart.click({ position: { x: width / 2, y: height / 2 } })
    await page.waitForURL(/explain=deployment-frequency.*since=.*until=/)
    const { searchParams } = new URL(page.url())
    const [since, until] = [searchParams.get('since') ?? '', searchParams.get('until') ?? '']
    expect((Date.parse(until) + 1 - Date.parse(since)) / DAY).toBe(7)
    const part = await ask(
      client.server,
      'GET',
      `/v1/metrics/deployment-frequency/explanation?project=project%200&from=${since}&to=${until}`,
    )
    await drawer.getByRole('button', { name: `They count ${part.counted}` }).waitFor()
    await drawer.getByRole('button', { name: 'Close' }).click()
    await drawer.waitFor({ state: 'detached' })

    // Dragging chooses a range.
    await chart.scrollIntoViewIfNeeded()
    const box = await placeOf()
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL((url) => url.searchParams.get('from') !== FROM)
    expect(Date.parse(new URL(page.url()).searchParams.get('from') ?? '')).toBeGreaterThan(Date.parse(FROM))
  })

  it('compare with the period before', async () => {
    const middle = new Date(START + 20 * DAY).toISOString()
    const end = new Date(START + 40 * DAY).toISOString()
    const page = await open(`/dashboards/dora?from=${middle}&to=${end}&var-project=project%200`)
    const value = async (from: number, to: string) =>
      (
        await ask(
          client.server,
          'GET',
          `/v1/metrics/change-failure-rate?project=project%200&from=${new Date(from).toISOString()}&to=${to}`,
        )
      ).values[0].value
    const [now, before] = [
      await value(START + 20 * DAY, end),
      await value(START, new Date(START + 20 * DAY - 1).toISOString()),
    ]
    const points = Math.round(Math.abs(now - before) * 1000) / 10
    const words = points === 0 ? 'no change' : `${now < before ? '↓' : '↑'} ${points} pts`
    await panel(page, 'Change failure rate').first().getByText(words).waitFor()
    const asked = page.waitForRequest(
      (request) =>
        request.url().includes('/panels/change-lead-time-series') &&
        request.url().includes(`from=${encodeURIComponent(new Date(START).toISOString())}`),
    )
    await page.getByRole('switch', { name: 'Compare' }).click()
    await asked
    await page.waitForURL(/compare=true/)
  })

  it('leave the others alone where one panel fails', async () => {
    const { kysely } = client.database.database
    await sql`alter table board_issues rename to board_issues_away`.execute(kysely)
    try {
      expectComplaint('500')
      const page = await open(`/dashboards/dora?${SHOP}`)
      await panel(page, 'What the keys are made of').getByRole('alert').waitFor()
      await panel(page, 'What the keys are made of').getByRole('button', { name: 'Try again' }).waitFor()
      await panel(page, 'Deployment frequency')
        .getByText(/of \d+ items/)
        .waitFor()
    } finally {
      await sql`alter table board_issues_away rename to board_issues`.execute(kysely)
    }
  })

  it('take names of any kind for a name', async () => {
    const name = `o'brien "50 % off" & <b>`
    await ask(client.server, 'POST', '/projects', { name })
    const page = await open(
      `/dashboards/dora?from=now-10y&to=now&var-project=${encodeURIComponent(name)}&var-interval=day`,
    )
    await panel(page, 'Deployment frequency').getByText('No successful deployment to production').waitFor()
    expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe(name)
    await panel(page, 'Deployment frequency').getByRole('button', { name: 'Why is there nothing?' }).click()
    await page.getByRole('dialog').getByText('No value').waitFor()
    expectComplaint('400')
    await page.goto(`${client.server.url}/dashboards/dora?from=yesterday`)
    await page.getByText('from is not a valid time: yesterday.').waitFor()
  })

  it('can be arranged from panels of others', TAKES_LONG, async () => {
    const page = await open(`/dashboards/dora?${SHOP}`)
    await panel(page, 'Deployments').getByRole('button', { name: 'More about deployments' }).click()
    await page.getByRole('menuitem', { name: 'Add to my dashboard' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('A new dashboard').fill('Monday “meeting”')
    await dialog.getByRole('button', { name: 'Create and add' }).click()
    await page.getByRole('button', { name: 'Show Monday “meeting”' }).click()
    await page.getByRole('heading', { level: 1, name: 'Monday “meeting”' }).waitFor()
    await panel(page, 'Deployments').waitFor()
    await page.getByRole('button', { name: 'Arrange', exact: true }).click()
    await page.getByRole('button', { name: 'Add panels' }).click()
    await page.getByLabel('Find a panel').fill('DORA overview how')
    await dialog.getByRole('button', { name: /How the four keys grade/ }).click()
    await dialog.getByText('is on it').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const titles = () =>
      page.getByRole('article').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
    await page.getByRole('button', { name: 'Move How the four keys grade earlier' }).press('Enter')
    await expect.poll(titles).toEqual(['How the four keys grade', 'Deployments'])
    await page.getByLabel('Width of Deployments').selectOption('Whole')
    const stored = async () => (await ask(client.server, 'GET', '/v1/own-dashboards'))[0].panels
    await expect.poll(stored).toEqual([
      { dashboard: 'dora', panel: 'grades', width: 24 },
      { dashboard: 'dora', panel: 'deployment-frequency-series', width: 24 },
    ])
    await page.getByRole('button', { name: 'Take Deployments away' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await stored()).length).toBe(2)
    await expect.poll(titles).toEqual(['How the four keys grade', 'Deployments'])
    await page.getByRole('button', { name: 'Done' }).click()
    await page.goto(`${client.server.url}/dashboards`)
    await page.getByRole('heading', { name: 'Your own' }).waitFor()
    await page.getByRole('link', { name: /Monday/ }).click()
    await page.getByRole('button', { name: 'Arrange', exact: true }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete dashboard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Dashboards' }).waitFor()
    expect(await ask(client.server, 'GET', '/v1/own-dashboards')).toEqual([])
  })

  it('are saved as CSV and as a picture, refreshed, and shown alone', TAKES_LONG, async () => {
    const page = await open(`/dashboards/dora?${SHOP}`)
    const save = async (item: string) => {
      await panel(page, 'Deployments').locator('canvas').first().waitFor()
      await panel(page, 'Deployments').getByRole('button', { name: 'More about deployments' }).click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ])
      return file
    }
    expect((await save('Save as CSV')).suggestedFilename()).toMatch(/\.csv$/)
    expect((await save('Save as PNG')).suggestedFilename()).toBe('deployments-project-0.png')
    await page.getByRole('combobox', { name: 'Refresh automatically' }).click()
    await page.getByRole('option', { name: 'Every 5 min' }).click()
    await page.waitForURL(/refresh=5m/)
    const again = page.waitForRequest((request) => request.url().includes('/panels/grades'))
    await page.getByRole('button', { name: 'Refresh now' }).click()
    await again
    await page.getByRole('button', { name: 'Full screen' }).click()
    await page.getByRole('navigation', { name: 'Main' }).first().waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
  })

  it('have no serious problem of access, light or dark', TAKES_LONG, async () => {
    const page = await open('/dashboards', { colorScheme: 'light' })
    const found: string[] = []
    for (const path of ['/dashboards', `/dashboards/dora?${SHOP}&share=true`, `/dashboards/dora?${SHOP}`]) {
      await page.goto(client.server.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path.includes('dora')) await panel(page, 'Deployments').locator('canvas').first().waitFor()
      found.push(...(await problemsOfAccess(page)).map((problem) => `${path}, ${problem}`))
    }
    expect(found).toEqual([])
  })
})

const TOKEN = 'a-token-that-opens-everything'

describeOwnServer(
  'shared dashboards',
  (client) => {
    beforeAll(async () => {
      const { rows } = plantOrganisation(1, 12)
      await write(client.database.database, rows)
      await calculate(client.database.database, 'project 0')
    })

    it('are seen by whoever has the link, until it is revoked', TAKES_LONG, async () => {
      const asked = await client.server.ask('POST', '/projects', { name: 'project 0' }, header(TOKEN))
      expect(asked.status).toBe(201)
      client.expectComplaint('401')
      const page = await client.open(`/dashboards/dora?${SHOP}`)
      await page.getByLabel('Access token').fill(TOKEN)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Share', exact: true }).click()
      await page.getByRole('button', { name: 'Make a link' }).click()
      const link = (await page.getByRole('link', { name: /\/shared\// }).textContent()) ?? ''

      const path = new URL(link).pathname
      const guest = await client.open(path)
      await guest.getByRole('heading', { level: 1, name: 'DORA overview' }).waitFor()
      await panel(guest, 'Deployment frequency')
        .getByText(/of \d+ items/)
        .waitFor()
      expect(await guest.getByRole('navigation').count()).toBe(0)
      expect(await guest.getByRole('button', { name: /^Explain/ }).count()).toBe(0)

      await page.getByRole('button', { name: /^Revoke link/ }).click()
      await page.getByRole('button', { name: 'Revoke link', exact: true }).click()
      await page.getByText('There is none.').waitFor()
      client.expectComplaint('404')
      await guest.reload()
      await guest.getByText('This link no longer works: it was revoked, or it has expired.').waitFor()
    })
  },
  { AUTH: 'token', AUTH_TOKEN: TOKEN },
)
