/** Webhooks from their creation to their messages, with the commands that the page offers. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { describeClient } from './support/client.ts'

const run = promisify(execFile)
const sh = (command: string, key = '') =>
  run('sh', ['-c', command], { env: { PATH: process.env.PATH, WEIR_KEY: key } }).then(({ stdout }) => stdout)

describeClient('webhooks', (client) => {
  const { open } = client
  it('are created with a key, and their commands work as they are printed', async () => {
    const page = await open('/sources/webhooks')
    await page.getByText('No webhooks yet').waitFor()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('deploys of the shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('heading', { level: 1, name: 'deploys of the shop' }).waitFor()
    await page.getByText('Nothing has come yet').waitFor()
    const key = (await page.getByTestId('key').textContent()) ?? ''
    const sent = ['Deployment', 'Open an incident', 'Close an incident', 'Pull request']
    for (const title of sent) {
      await page.getByText(title, { exact: true }).click()
      const command = (await page.locator('pre.code').textContent()) ?? ''
      expect(command).toContain(key)
      expect(JSON.parse(await sh(command)), title).toMatchObject({ success: true })
    }
    await page.getByText('taken').nth(3).waitFor()

    // The reloaded page no longer has the key: it comes from the environment.
    await page.reload()
    await page.getByText('It was shown when it was made').waitFor()
    const later = (await page.locator('pre.code').textContent()) ?? ''
    expect(later).not.toContain(key)
    expect(JSON.parse(await sh(later, key))).toMatchObject({ success: true })

    await page.getByRole('button', { name: 'Renew key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Renew key' }).click()
    const renewed = (await page.getByTestId('key').textContent()) ?? ''
    expect(renewed).not.toBe(key)
    await expect(sh(later, key)).rejects.toThrow()
    // The old key was refused, and the inbox says so.
    await page.getByText('This API key is not valid').waitFor()
  })

  it('tell in the inbox why a message was refused', async () => {
    const { body } = await client.server.ask('POST', '/plugins/webhook/connections', { name: 'ci' })
    await client.server.ask('POST', `/plugins/webhook/connections/${body.id}/deployments`, { id: 'd1' })
    const page = await open(`/sources/webhooks/${body.id}`)
    await page.getByText('refused').waitFor()
    await page.getByRole('button', { name: 'Deployment' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('answered with 400').waitFor()
    await drawer.getByText(/deploymentCommits/).waitFor()
    await drawer.getByText('"id": "d1"').waitFor()
    // The drawer has its own address.
    await page.reload()
    await page.getByRole('dialog').getByText('answered with 400').waitFor()
  })

  it('are renamed and deleted, and a name can be taken once', async () => {
    const { body } = await client.server.ask('POST', '/plugins/webhook/connections', { name: 'old name' })
    await client.server.ask('POST', '/plugins/webhook/connections', { name: 'taken name' })
    client.expectComplaint('400')
    const page = await open(`/sources/webhooks/${body.id}`)
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('taken name')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page
      .getByRole('dialog')
      .getByText(/already/)
      .waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('new name')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { level: 1, name: 'new name' }).waitFor()
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('were sent stay').waitFor()
    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    await page.getByRole('link', { name: 'taken name' }).waitFor()
    expect(await page.getByRole('link', { name: 'new name' }).count()).toBe(0)
  })

  it('say so when they were deleted under an open page', async () => {
    client.expectComplaint('404')
    const page = await open('/sources/webhooks/999')
    await page.getByText('This no longer exists').waitFor()
  })
})
