/** The guided start in a browser: from nothing to the four keys on screen, interrupted and continued, and with a wrong token. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { DEFAULT_TOKEN } from '../fake-github/fake-github.ts'
import { startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { startOrganisation } from '../support/organisation.ts'
import { describeClient } from './support/client.ts'

const LONG = { timeout: 240_000 }

async function fillConnection(page: Page, values: Readonly<Record<string, string>>) {
  for (const [label, value] of Object.entries(values)) await page.getByRole('textbox', { name: label }).fill(value)
}
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const steps = (page: Page) => page.getByRole('navigation', { name: 'Steps' })

describeClient('the guided start', (client) => {
  const { open } = client

  it('leads from nothing to the four keys', LONG, async () => {
    const github = await startOrganisation()
    const page = await open('/start')
    await heading(page, 'Where does your team work?')
    await page.getByText('npm run demo').waitFor()
    await page.getByRole('button', { name: 'Connect GitHub' }).click()
    await heading(page, 'Connect GitHub')

    // A wrong token is reported before anything is saved.
    client.expectComplaint('400')
    await fillConnection(page, { Endpoint: `${github.url}/`, 'Personal access tokens': `ghp_${'nope'.repeat(9)}` })
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    expect((await client.server.ask('GET', '/plugins/github/connections')).body).toEqual([])

    await page.getByLabel('Personal access tokens').fill(DEFAULT_TOKEN)
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByRole('button', { name: 'Save' }).click()

    await heading(page, 'Which repositories do you ship from?')
    await page.getByText('acme', { exact: true }).first().click()
    await page.getByLabel('acme/web').first().check()
    await page.getByText('1 chosen').waitFor()

    // After a reload the guide continues at the same step, with the same choices.
    await page.reload()
    await page.getByText('1 chosen').waitFor()
    await page.getByRole('button', { name: 'Continue with 1 repository' }).click()

    await heading(page, 'What counts as what?')
    const environments = page.getByRole('textbox', { name: 'Production environments' })
    expect(await environments.inputValue()).toBe('(?i)prod(.*)')
    await page.locator('.rule').filter({ has: environments }).locator('.tag.accent').getByText('production').waitFor()
    const incidents = page.locator('.rule').filter({ has: page.getByRole('textbox', { name: 'Labels of incidents' }) })
    await incidents.locator('.tag.accent').getByText('incident').waitFor()
    await page.getByRole('button', { name: 'Save and continue' }).click()

    // Another window opens at the same step, because finished steps are read from the server.
    await heading(page, 'What does your team call it?')
    const other = await open('/start')
    await heading(other, 'What does your team call it?')
    expect(await steps(other).getByRole('listitem').nth(2).textContent()).toContain('✓')

    await page.getByRole('textbox', { name: 'Name of the project' }).fill('Shop 🛒 a/b%c')
    await page.getByRole('button', { name: 'Create and collect' }).click()
    await page.getByRole('progressbar', { name: 'The whole run' }).waitFor()
    await page
      .getByRole('heading', { level: 1, name: 'The first numbers of Shop 🛒 a/b%c' })
      .waitFor({ timeout: 120_000 })
    const key = (name: string) => page.getByRole('article', { name })
    await key('Change lead time').getByText('12', { exact: false }).first().waitFor()
    expect(await key('Change lead time').locator('.value').textContent()).toBe('1d12h')
    await key('Deployment frequency')
      .locator('.value')
      .getByText(/\d+ deployments? in \d+ weeks/)
      .waitFor()
    expect(await key('Change failure rate').locator('.value').textContent()).toBe('10%')
    await key('Failed deployment recovery time').locator('.value').waitFor()

    // A click on a number opens its explanation on the same page.
    await page.getByTitle('What change failure rate is made of').click()
    const drawer = page.getByRole('dialog', { name: 'Change failure rate' })
    await drawer.getByRole('button', { name: /They count 10/ }).waitFor()
    expect(page.url()).toContain('/start?')
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })

    await page.getByRole('link', { name: 'Open the project' }).click()
    await heading(page, 'Shop 🛒 a/b%c')
    expect(github.violations).toEqual([])
  })

  it('takes a second tool on the way, and says why a number is missing', LONG, async () => {
    const jira = await startFakeJira()
    try {
      const page = await open('/start?step=connect')
      await page.getByRole('button', { name: 'Connect Jira' }).click()
      await fillConnection(page, { Endpoint: jira.url, 'User name': USER.username, Password: USER.password })
      await page.getByRole('button', { name: 'Test connection' }).click()
      await page.getByRole('button', { name: 'Save' }).click()
      await heading(page, 'Which boards do you ship from?')
      await page.getByRole('checkbox').first().check()
      await page.getByRole('button', { name: /Continue with 1 board/ }).click()
      await heading(page, 'What counts as what?')
      await page.getByLabel('Story counts as').first().waitFor()
      await page.getByRole('button', { name: 'Save and continue' }).click()
      await heading(page, 'What does your team call it?')
      await page.getByRole('checkbox', { name: 'GitHub' }).uncheck()
      await page.getByRole('button', { name: 'Create and collect' }).click()
      await page.getByText('Give it a name.').waitFor()
      // A taken name is reported at its field, and no input is lost.
      client.expectComplaint('400')
      await page.getByRole('textbox', { name: 'Name of the project' }).fill('Shop 🛒 a/b%c')
      await page.getByRole('button', { name: 'Create and collect' }).click()
      await page
        .getByText(/Shop 🛒 a\/b%c.*(exists|taken|already)|already.*Shop/i)
        .first()
        .waitFor()
      await page.getByRole('textbox', { name: 'Name of the project' }).fill('Board')
      await page.getByRole('button', { name: 'Create and collect' }).click()
      await page.getByRole('heading', { level: 1, name: 'The first numbers of Board' }).waitFor({ timeout: 120_000 })
      const lead = page.getByRole('article', { name: 'Change lead time' })
      await lead.getByText('No number yet').waitFor()
      await lead.getByText(/were collected/).waitFor()
      await lead.getByRole('link', { name: 'Change what is collected' }).click()
      await heading(page, 'Board')
    } finally {
      await jira.stop()
    }
  })
})
