/** Collected data in the browser: one record through all layers, and a custom field that is mapped by a click and filled. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOwnServer } from './support/client.ts'
import { ask as askServer } from './support/shop.ts'

const ODD_NAME = 'שלום 🌊 <b>100%</b> a/b'

describeOwnServer('data', (client) => {
  let jira: FakeJira
  let blueprintId = 0
  const ask = (method: string, path: string, body?: unknown) => askServer(client.server, method, path, body)
  beforeAll(async () => {
    jira = await startFakeJira()
    jira.issues.length = 0
    jira.issues.push(
      issue(1, { customfield_10016: 3, summary: ODD_NAME }),
      issue(2, { customfield_10016: 5, summary: `Long ${'name '.repeat(200)}` }),
      issue(3),
    )
    const settings = { name: 'tickets', endpoint: jira.url, authMethod: 'BasicAuth', ...USER }
    const { id: connectionId } = await ask('POST', '/plugins/jira/connections', settings)
    const board = { boardId: 5, name: 'Shop % board' }
    await ask('PUT', `/plugins/jira/connections/${connectionId}/scopes`, { data: [board] })
    const connections = [{ pluginName: 'jira', connectionId, scopes: [{ scopeId: '5' }] }]
    const blueprint = { isManual: true, connections, timeAfter: '2015-01-01T00:00:00Z' }
    blueprintId = (await ask('POST', '/projects', { name: 'shop', blueprint })).blueprint.id
  })
  afterAll(() => jira?.stop())

  it('says what is missing before anything was collected', async () => {
    const page = await client.open('/data')
    await page.getByText('Choose a scope to look into').waitFor()
    await page.getByRole('combobox', { name: 'Scope' }).click()
    await page.getByRole('option', { name: 'Shop % board · Jira · tickets' }).click()
    await page.getByRole('link', { name: /^jira_boards/ }).waitFor()
    expect(page.url()).toContain('plugin=jira')
    await page.goto(`${client.server.url}/data/fields/map?plugin=jira&connectionId=1&scopeId=5`)
    await page.getByText('Nothing was collected for it yet').waitFor()
  })

  it('follows one record from the source to the domain', async () => {
    const { id } = await ask('POST', `/blueprints/${blueprintId}/trigger`)
    const page = await client.open(`/runs/${id}`)
    await page.locator('header.head').getByText('done', { exact: true }).waitFor()
    await page.goto(`${client.server.url}/data`)
    await page.getByRole('combobox', { name: 'Scope' }).fill('shop %')
    await page.getByRole('option', { name: /Shop % board/ }).click()
    const tables = page.getByRole('navigation', { name: 'Tables' })
    await tables.getByRole('link', { name: /^issues/ }).click()
    await page.getByRole('cell', { name: 'SHOP-1', exact: true }).waitFor()
    await page.getByLabel('Find rows').fill('shop-1')
    await page.getByText(/^1 row/).waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    const drawer = page.getByRole('dialog')
    const layer = (name: string) => drawer.getByRole('region', { name })
    await layer('As sent').getByText('“SHOP-1”').waitFor()
    await layer('Tool').getByText('_tool_jira_issues', { exact: true }).waitFor()
    await layer('Domain').getByText('board_issues', { exact: true }).waitFor()
    await layer('Domain').getByText(ODD_NAME).first().waitFor()
    // The address alone opens it again.
    await page.reload()
    await layer('As sent').getByText('“SHOP-1”').waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    expect(page.url()).not.toContain('record=')

    await tables.getByRole('link', { name: /^jira_api_issues/ }).click()
    await page.getByText(/^3 rows, newest first/).waitFor()
    client.expectComplaint('404')
    await page.goto(`${page.url()}&record=_raw_jira_api_issues:99999`)
    await drawer.getByText('A newer version may have replaced it').waitFor()
  })

  it('adds a field by clicking a value, and every run fills it', async () => {
    const page = await client.open('/data/fields')
    await page.getByText('No custom fields yet').waitFor()
    await page.getByRole('link', { name: 'Add field' }).click()
    await page.getByRole('combobox', { name: 'Scope' }).click()
    await page.getByRole('option', { name: /Shop % board/ }).click()
    await page.getByLabel('Find a value').fill('story')
    await page.getByRole('button', { name: /Story Points fields\.customfield_10016/ }).click()
    expect(await page.getByLabel('Column').inputValue()).toBe('x_story_points')
    await page.getByText('2 rows of 3 looked at get a value').waitFor()
    await page.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Moment' }).click()
    await page.getByText(/values do not fit the type/).waitFor()
    await page.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Number', exact: true }).click()
    await page.getByText('2 rows of 3 looked at get a value').waitFor()

    client.expectComplaint('400')
    await page.getByLabel('Column').fill('points')
    await page.getByRole('button', { name: 'Add and fill the field' }).click()
    await page.getByText(/must be x_/).waitFor()
    await page.getByLabel('Column').fill('x_points')
    await page.getByRole('button', { name: 'Add and fill the field' }).click()
    // The button does both: the run that fills the field has begun.
    await page.getByRole('heading', { name: /Fill issues\.x_points/ }).waitFor()
    await page.locator('header.head').getByText('done', { exact: true }).waitFor()
    await page.goto(`${client.server.url}/data?plugin=jira&connectionId=1&scopeId=5&table=issues&words=SHOP-2`)
    await page.getByRole('columnheader', { name: 'x_points' }).waitFor()
    await page.getByRole('cell', { name: '5', exact: true }).waitFor()

    await page.goto(`${client.server.url}/data/fields`)
    const row = page.getByRole('row', { name: /x_points/ })
    await row.getByText('fields.customfield_10016').waitFor()
    await row.getByRole('button', { name: 'Fill now' }).click()
    await page.getByRole('heading', { name: /Fill issues\.x_points/ }).waitFor()

    // The project's own run gives the same result.
    const { id } = await ask('POST', `/blueprints/${blueprintId}/trigger`)
    await page.goto(`${client.server.url}/runs/${id}`)
    await page.locator('header.head').getByText('done', { exact: true }).waitFor()
    await page.getByRole('link', { name: /Custom fields and CSV files/ }).waitFor()
  })

  it('stops filling a field, and deletes it with its values', async () => {
    const page = await client.open('/data/fields')
    await page.getByRole('button', { name: 'Stop filling' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page
      .getByRole('row', { name: /x_points/ })
      .getByText('fields.customfield_10016')
      .waitFor()
    await page.getByRole('button', { name: 'Stop filling' }).click()
    await page
      .getByRole('row', { name: /x_points/ })
      .getByText('nothing yet')
      .waitFor()
    await page.getByRole('button', { name: 'Actions for x_points' }).click()
    await page.getByRole('menuitem', { name: 'Delete field' }).click()
    await page.getByRole('dialog').getByText('All its values are deleted').waitFor()
    await page.getByRole('button', { name: 'Delete field and values' }).click()
    await page.getByText('No custom fields yet').waitFor()
  })
})
