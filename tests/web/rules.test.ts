/** Rules: matches of patterns in collected data, the effect of a change on the four keys, and simultaneous editors. */
import { expect, it } from 'vitest'
import { describeClient, LONGEST_MS } from './support/client.ts'
import { type Collected, collectOrganisation } from './support/collected.ts'

describeClient('rules', (client) => {
  const { open } = client
  const ask = (method: string, path: string, body?: unknown) => client.server.ask(method, path, body)
  let shop: Collected
  const place = (config: number | string = shop.configId) => `/sources/github/${shop.connectionId}/rules/${config}`
  const stored = async (config = shop.configId) =>
    (await ask('GET', `/plugins/github/connections/${shop.connectionId}/scope-configs/${config}`)).body

  it('shows what a change matches and does to the four keys before it is saved', async () => {
    shop = await collectOrganisation(client.server, {
      project: 'shop',
      rules: { envNamePattern: 'nothing-like-it', issueTypeIncident: '(?i)incident' },
    })
    const page = await open(place())
    const field = page.getByRole('textbox', { name: 'Production environments' })
    await expect.poll(() => field.inputValue()).toBe('nothing-like-it')
    const rule = page.locator('.rule').filter({ has: field })
    await rule.getByText('Nothing matches; there are').waitFor()
    await rule.getByRole('button', { name: 'production 10' }).waitFor()
    // Suggestions come from collected names, with the reason.
    await rule.getByText('Matches production (10).').waitFor()
    await rule.getByRole('button', { name: 'Use it' }).click()
    expect(await field.inputValue()).toBe('(?i)prod(.*)')
    await rule.locator('.tag.accent').getByText('production').waitFor()

    const effect = page.getByRole('complementary', { name: 'What this changes' })
    await effect.getByRole('button', { name: 'Show the effect on shop' }).click()
    await effect.getByText('10 match: 10 gained, 0 lost.').waitFor()
    const frequency = effect.getByRole('row', { name: /Deployment frequency/ })
    expect(await frequency.textContent()).toMatch(/no value|0/)
    expect(await frequency.textContent()).toMatch(/\/ week/)
    await effect
      .getByRole('row', { name: /Change lead time/ })
      .getByText('1 d 12 h')
      .waitFor()
    expect((await stored()).envNamePattern).toBe('nothing-like-it')

    await page.getByRole('button', { name: 'Save and re-transform' }).click()
    await page.waitForURL('**/runs/*')
    expect((await stored()).envNamePattern).toBe('(?i)prod(.*)')
    const { body } = await ask('GET', '/pipelines?pageSize=1')
    expect(body.pipelines[0].skipCollectors).toBe(true)
    await expect
      .poll(async () => (await ask('GET', `/pipelines/${body.pipelines[0].id}`)).body.status, {
        timeout: LONGEST_MS,
      })
      .toBe('TASK_COMPLETED')
    const { body: frequent } = await ask('GET', '/v1/metrics/deployment-frequency?project=shop')
    expect(frequent.values[0].counted).toBeGreaterThan(0)
  })

  it('says at once what is wrong with a pattern, and where', async () => {
    const page = await open(place())
    const field = page.getByRole('textbox', { name: 'Labels of incidents' })
    await field.fill('(?i)(incident')
    await page.getByText('Not a pattern: missing closing ), at character 5.').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    // The server refuses it too, and no input is lost.
    client.expectComplaint('400')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('does not compile').waitFor()
    expect(await field.inputValue()).toBe('(?i)(incident')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('(?i)(incident')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await expect.poll(() => field.inputValue()).toBe('(?i)incident')
  })

  it('lets a name be added by a click, and what is collected be chosen', async () => {
    const page = await open(place())
    const field = page.getByRole('textbox', { name: 'Workflow runs and jobs that deploy' })
    const rule = page.locator('.rule').filter({ has: field })
    await rule.getByRole('button').first().click()
    await expect.poll(() => field.inputValue()).toMatch(/^\^.*\$$/)
    await rule.locator('.tag.accent').waitFor()
    await page.getByRole('checkbox', { name: 'Links' }).uncheck()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('is saved. It applies from the next run on.').waitFor()
    const { entities, deploymentPattern } = await stored()
    expect(entities).toEqual(expect.arrayContaining(['CODE', 'CICD']))
    expect(entities).not.toContain('CROSS')
    expect(deploymentPattern).toMatch(/^\^.*\$$/)
  })

  it('makes new rules from what is there, and lets scopes be given to them', async () => {
    const page = await open(`/sources/github/${shop.connectionId}/rules`)
    await page.getByText('1 repository').waitFor()
    await page.getByRole('link', { name: 'New rules' }).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('مرحبا 🚀 a/b%c')
    expect(await page.getByRole('textbox', { name: 'Production environments' }).inputValue()).toBe('(?i)prod(.*)')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('has rules of shop').waitFor()
    await drawer.getByRole('checkbox', { name: 'acme/web' }).check()
    await drawer.getByRole('button', { name: 'Change 1 repository' }).click()
    await page.getByText('applies to what you chose').waitFor()
    await page.goto(new URL(`/sources/github/${shop.connectionId}/rules`, page.url()).href)
    await page.getByRole('row', { name: /مرحبا/ }).getByText('1 repository').waitFor()
    // Rules that nothing uses can be deleted, and the deletion can be undone.
    await page.getByRole('button', { name: 'Delete rules of shop' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'rules of shop' }).waitFor()
    const { body } = await ask('GET', `/plugins/github/connections/${shop.connectionId}/scope-configs`)
    shop = { ...shop, configId: body.find((each: any) => each.name === 'rules of shop').id }
    expect((await stored()).issueTypeIncident).toBe('(?i)incident')
  })

  it('overwrites nothing of somebody else, and keeps what is written when the rules are deleted', async () => {
    const page = await open(place())
    const field = page.getByRole('textbox', { name: 'Labels of bugs' })
    await field.fill('mine')
    const at = `/plugins/github/connections/${shop.connectionId}/scope-configs/${shop.configId}`
    await ask('PATCH', at, { issueTypeBug: 'theirs' })
    client.expectComplaint('412')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' })
    await dialog.getByText('theirs', { exact: true }).waitFor()
    expect((await stored()).issueTypeBug).toBe('theirs')
    await dialog.getByRole('button', { name: 'Save mine over it' }).click()
    await page.getByText('is saved. It applies').waitFor()
    expect((await stored()).issueTypeBug).toBe('mine')

    await field.fill('kept')
    await ask('DELETE', at)
    client.expectComplaint('404')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Save as new rules' }).click()
    await page.getByRole('dialog').waitFor()
    const { body } = await ask('GET', `/plugins/github/connections/${shop.connectionId}/scope-configs`)
    expect(body.map(({ issueTypeBug }: any) => issueTypeBug)).toContain('kept')
  })
})
