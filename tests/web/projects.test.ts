/** Projects in a browser: from none to four keys with explanations. */
import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startOrganisation } from '../support/organisation.ts'
import { describeClient } from './support/client.ts'
import { ask, collect, makeShop } from './support/shop.ts'

const TAKES_LONG = { timeout: 300_000 }
const ODD_NAME = 'Ö/50 % “shop” 🛒 متجر'

const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })

describeClient('projects', (client) => {
  const { open, expectComplaint } = client

  it('begin with none; a new one has its name checked as it is typed', async () => {
    const page = await open('/projects')
    await page.getByRole('heading', { name: 'No project yet' }).waitFor()
    await page.getByRole('button', { name: 'Only create a project' }).click()
    await page.getByLabel('Name').fill(ODD_NAME)
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('heading', { level: 1, name: ODD_NAME }).waitFor()
    await page.getByText('No source is connected yet').waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: ODD_NAME }).waitFor()
    await page.goto(`${client.server.url}/projects?new=true`)
    await page.getByLabel('Name').fill(ODD_NAME)
    await page.getByText('There is already a project with this name').waitFor()
    expect(await page.getByRole('button', { name: 'Create project' }).isDisabled()).toBe(true)
  })

  it('show the four keys after a collection, and explain each down to its items', TAKES_LONG, async () => {
    const github = await startOrganisation()
    const { blueprintId } = await makeShop(client.server, github)
    await collect(client.server, blueprintId)
    const page = await open('/projects')
    await page.getByRole('link', { name: 'Change lead time of shop: 1 d 12 h' }).waitFor()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await card(page, 'Change lead time')
      .getByText(/^Median of 9 of \d+ pull requests/)
      .waitFor()
    await card(page, 'Change failure rate').getByText('1 of 10 deployments led to an incident').waitFor()
    await card(page, 'Failed deployment recovery time').getByText('Median of 1 incident,').waitFor()
    await page.getByRole('img', { name: /Change lead time over time/ }).waitFor()

    await page.getByRole('link', { name: 'Explain change lead time' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'They count 9' }).waitFor()
    await drawer.getByRole('button', { name: /Only the first deployment holds the merge commit/ }).click()
    await page.waitForURL(/explain=change-lead-time.*reason=only_in_first_deployment/)
    await drawer.getByText('not counted').waitFor()
    expect(await drawer.getByRole('listitem').count()).toBe(1)
    const link = drawer.getByRole('listitem').getByRole('link', { name: 'Data' })
    expect(await link.getAttribute('href')).toMatch(/^\/data\/record\?table=pull_requests&id=github%3A/)
    await page.reload()
    // The row behind the item, as stored and as sent.
    await drawer.getByRole('listitem').getByRole('link', { name: 'Data' }).click()
    await page.getByRole('heading', { level: 1, name: 'A row of pull_requests' }).waitFor()
    await page.getByRole('region', { name: 'As sent' }).getByText('Came').waitFor()
    await page.goBack()
    await drawer.getByRole('link', { name: 'Choose a policy' }).waitFor()
    // The items that count against the number, with the incident that each led to.
    await page.goto(`${client.server.url}/projects/shop?explain=change-failure-rate`)
    await drawer.getByRole('button', { name: /they count against the number 1$/ }).click()
    await page.waitForURL(/reason=against/)
    await drawer.getByRole('listitem').getByRole('link', { name: /Down$/ }).waitFor()
    expect(await drawer.getByRole('listitem').count()).toBe(1)
    await drawer.getByText('acme/web').first().waitFor()
    await page.goto(`${client.server.url}/projects/shop?explain=change-lead-time`)
    await drawer.getByRole('link', { name: 'Choose a policy' }).click()

    const now = page.getByRole('row', { name: /This project now/ })
    await now.getByText('of 9', { exact: true }).waitFor()
    await page.getByRole('switch', { name: 'Use first-deployment' }).click()
    await now.getByText('of 10', { exact: true }).nth(2).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await now.getByText('of 9', { exact: true }).waitFor()

    const service = page.getByRole('region', { name: 'Incidents of the service report' })
    await service.getByLabel('Categories').first().fill('outage')
    await page.keyboard.press('Enter')
    await service.getByRole('textbox', { name: 'Component' }).fill('checkout')
    await service.getByRole('button', { name: 'Save the choice' }).click()
    await service.getByRole('button', { name: 'Save the choice', disabled: true }).waitFor()
    await page.reload()
    await service.getByText('outage', { exact: true }).waitFor()
    expect(await service.getByRole('textbox', { name: 'Component' }).inputValue()).toBe('checkout')
  })

  it('name what was seen where nothing counts, and lead to the rules', TAKES_LONG, async () => {
    const github = await startOrganisation()
    const made = await makeShop(client.server, github, 'unmapped', { envNamePattern: '^live$' })
    await collect(client.server, made.blueprintId)
    const page = await open('/projects/unmapped')
    const words = '10 deployments went to production, which no rule maps to PRODUCTION.'
    await card(page, 'Deployment frequency').getByText(words).waitFor()
    const button = page
      .getByRole('article', { name: 'What is not counted' })
      .getByRole('link', { name: 'Map production' })
    const rules = `/sources/github/${made.connectionId}/rules/${made.scopeConfigId}?project=unmapped`
    expect(await button.getAttribute('href')).toBe(rules)
    await page.getByRole('link', { name: 'Explain deployment frequency' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('No value').waitFor()
    await drawer.getByText('If that environment is production, map it by a rule.').waitFor()
    await drawer.getByRole('link', { name: 'Map production' }).click()
    await page.getByRole('heading', { level: 1, name: 'unmapped rules' }).waitFor()
  })

  it('keep what two people change, and say what goes when one is deleted', async () => {
    await ask(client.server, 'POST', '/projects', { name: 'shared', description: 'before' })
    const page = await open('/projects/shared?tab=settings')
    await page.getByLabel('Description').fill('mine')
    await ask(client.server, 'PATCH', '/projects/shared', { name: 'shared', description: 'theirs' })
    expectComplaint('412')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' })
    await conflict.getByText('theirs', { exact: true }).waitFor()
    await conflict.getByRole('button', { name: 'Save mine over it' }).click()
    await page.locator('header').getByText('mine').waitFor()

    await page.getByLabel('Name').fill('shared, renamed')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL(/shared%2C%20renamed/)
    await page.getByRole('button', { name: 'Delete project' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete shared, renamed?' })
    await dialog.getByText('Stays:').waitFor()
    await dialog.getByRole('button', { name: 'Delete project' }).click()
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    expect((await client.server.ask('GET', '/projects/shared%2C%20renamed')).status).toBe(404)
  })

  it('say so when one is deleted under an open page', async () => {
    await ask(client.server, 'POST', '/projects', { name: 'going' })
    const page = await open('/projects/going')
    await page.getByRole('link', { name: 'Blueprint', exact: true }).waitFor()
    await ask(client.server, 'DELETE', '/projects/going')
    expectComplaint('404')
    await page.reload()
    await page.getByRole('heading', { name: 'This no longer exists' }).waitFor()
  })

  it('have webhooks whose command works as it is copied', async () => {
    await ask(client.server, 'POST', '/projects', { name: 'told' })
    const page = await open('/projects/told?tab=webhooks')
    await page.getByText('No webhook reports to this project').waitFor()
    await page.getByLabel('New webhook').fill('told by deploys')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('The key in this command is shown once.').waitFor()
    const command = (await page.locator('pre').textContent()) ?? ''
    const answer = execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    expect(JSON.parse(answer)).toMatchObject({ success: true })
    const { blueprint } = await ask(client.server, 'GET', '/projects/told')
    expect(blueprint.connections).toMatchObject([{ pluginName: 'webhook' }])
    await page.reload()
    await page.locator('pre').getByText('Bearer $WEIR_KEY').waitFor()

    // Another project uses the same webhook, and needs no second key.
    await ask(client.server, 'POST', '/projects', { name: 'told as well' })
    await page.goto(`${client.server.url}/projects/told%20as%20well?tab=webhooks`)
    await page.getByText('change within a minute').waitFor()
    await page.getByRole('combobox', { name: 'Webhook that exists' }).click()
    await page.getByRole('option', { name: 'told by deploys' }).click()
    await page.getByRole('button', { name: 'Attach webhook' }).click()
    await page.getByRole('button', { name: 'told by deploys' }).waitFor()
    const attached = (await ask(client.server, 'GET', '/projects/told%20as%20well')).blueprint.connections
    expect(attached).toEqual(blueprint.connections)
    await page.getByRole('button', { name: 'Attach webhook' }).waitFor({ state: 'hidden' })
    await page.getByText('Older than this project: told by deploys.').waitFor()
    await page.goto(`${client.server.url}/projects/told%20as%20well?tab=settings`)
    await page.getByRole('button', { name: 'Delete project' }).click()
    await page.getByRole('dialog').getByText('takes up the webhook told as well_deployments').waitFor()
  })

  it('are found, sorted and rolled through by the hundred', TAKES_LONG, async () => {
    for (let index = 100; index < 180; index++) await ask(client.server, 'POST', '/projects', { name: `p ${index}` })
    const page = await open('/projects?sort=name&find=p 1')
    await page.getByText('80 projects').waitFor()
    await page.getByRole('link', { name: 'p 100', exact: true }).waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(45)
    await page.getByRole('link', { name: /Change lead time of p 100: no data/ }).waitFor()
    for (let isThere = false; !isThere; ) {
      await page.mouse.wheel(0, 2000)
      isThere = await page.getByRole('link', { name: 'p 179', exact: true }).isVisible()
    }
    await page.getByLabel('Find a project').fill('nothing like it')
    await page.getByRole('heading', { name: 'No project is called “nothing like it”' }).waitFor()
  })
})
