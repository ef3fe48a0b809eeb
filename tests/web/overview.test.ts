/** The first page, and the list of traffic switches. */
import { expect, it } from 'vitest'
import { initialPlan } from '../../traffic/model/init.ts'
import { describeClient, LONGEST_MS } from './support/client.ts'

describeClient('the overview', (client) => {
  it('leads to the start as long as there is nothing', async () => {
    const page = await client.open('/')
    await page.getByText('Nothing is measured yet').waitFor()
    await page.getByRole('link', { name: 'Start', exact: true }).click()
    await page.waitForURL('**/start')
  })

  it('names what needs attention and why a project has no numbers, each with the way to it', async () => {
    const { body: project } = await client.server.ask('POST', '/projects', { name: 'shop' })
    const first = await client.open('/')
    await first.getByText('Nothing so far: no run has ended yet.').waitFor()
    const settings = { name: 'tidewater', endpoint: 'http://127.0.0.1:9/', token: 'x', authMethod: 'AccessToken' }
    const { body: made } = await client.server.ask('POST', '/plugins/github/connections', settings)
    await client.server.ask('POST', `/plugins/github/connections/${made.id}/test`)
    // The run fails because the connection does not exist.
    const plan = [[{ plugin: 'github', options: { connectionId: 99, name: 'acme/web' } }]]
    const { body: run } = await client.server.ask('POST', '/pipelines', { plan, blueprintId: project.blueprint.id })
    // An open page asks again only now and then.
    await expect
      .poll(async () => (await client.server.ask('GET', `/pipelines/${run.id}`)).body.status, { timeout: LONGEST_MS })
      .toBe('TASK_FAILED')
    const page = await client.open('/')
    await page.getByText('Nothing is chosen to be collected').waitFor()
    await page.getByText('The last run of shop failed.').waitFor()
    await page.getByText('GitHub connection tidewater does not work.').waitFor()
    const cause = page.getByRole('listitem').filter({ hasText: 'The last run of shop failed.' })
    await cause.getByRole('link', { name: 'Show it' }).click()
    await page.waitForURL(`**/runs/${run.id}`)
  })
})

describeClient('a project that shares its scopes', (client) => {
  it('says whose run collected them as long as it has none', async () => {
    const { ask } = client.server
    const settings = { name: 'main', endpoint: 'http://127.0.0.1:9/', token: 'x', authMethod: 'AccessToken' }
    const { body: connection } = await ask('POST', '/plugins/github/connections', settings)
    const scope = { githubId: 7, name: 'web', fullName: 'acme/web' }
    await ask('PUT', `/plugins/github/connections/${connection.id}/scopes`, { data: [scope] })
    const connections = [{ pluginName: 'github', connectionId: connection.id, scopes: [{ scopeId: '7' }] }]
    const [sharing, collecting] = [
      (await ask('POST', '/projects', { name: 'sharing' })).body.blueprint.id,
      (await ask('POST', '/projects', { name: 'collecting' })).body.blueprint.id,
    ]
    for (const id of [sharing, collecting]) await ask('PATCH', `/blueprints/${id}`, { connections })
    const first = await client.open('/projects/sharing')
    await first.getByText('Nothing was collected yet: Collect now begins.').waitFor()
    const plan = [[{ plugin: 'dora', options: { projectName: 'collecting' } }]]
    const { body: run } = await ask('POST', '/pipelines', { plan, blueprintId: collecting })
    await expect
      .poll(async () => (await ask('GET', `/pipelines/${run.id}`)).body.status, { timeout: LONGEST_MS })
      .toBe('TASK_COMPLETED')
    const page = await client.open('/')
    await page.getByText(`What it shares with collecting was collected by run ${run.id}, `).waitFor()
    await page.getByText('no run of its own').waitFor()
    await page.goto(`${client.server.url}/projects/sharing`)
    await page.getByText(/^This project has not run yet\. What it shares with collecting was collected by/).waitFor()
  })
})

describeClient('traffic', (client) => {
  it('shows switches with their steps, and acts with consequences in words', async () => {
    client.expectComplaint('412')
    const empty = await client.open('/traffic')
    await empty.getByText('No switch yet').waitFor()
    const { body } = await client.server.ask('POST', '/v1/traffic-switches', { yaml: initialPlan('shop', 'standard') })
    await empty.getByRole('link', { name: 'shop' }).click()
    const page = empty
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
    await page.getByText('90/10').first().waitFor()
    await page.getByText('Closes the draft for good').waitFor()

    // Somebody else was faster: their change is shown, not overwritten. (Only a rollback always wins.)
    const dialog = page.getByRole('dialog')
    const abort = async () => {
      await dialog.getByLabel('Type shop to confirm').fill('shop')
      await dialog.getByRole('button', { name: 'Abort' }).click()
    }
    await page.getByRole('button', { name: 'Abort' }).click()
    const edited = initialPlan('shop', 'canary')
    expect((await client.server.ask('PUT', `/v1/traffic-switches/${body.id}`, { yaml: edited })).status).toBe(200)
    await abort()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    await page.getByRole('button', { name: 'Abort' }).click()
    await abort()
    await page.getByText('aborted').first().waitFor()
    await page.getByText('Aborted: nothing of the switch is left').first().waitFor()
  })
})
