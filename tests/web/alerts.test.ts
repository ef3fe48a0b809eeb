import { expect, it } from 'vitest'
import { insertRow } from '../../src/control-plane/store.ts'
import { alertMessages } from '../../src/system/alerts.ts'
import { startReceiver } from '../alerts/receiver.ts'
import { describeClient } from './support/client.ts'

describeClient('the page of alerts', (client) => {
  it('makes an alert with useful defaults, tries it, changes it and deletes it', async () => {
    const receiver = await startReceiver()
    await client.server.ask('POST', '/projects', { name: 'shop' })
    const page = await client.open('/settings/alerts')
    await page.getByText('No alerts yet').waitFor()
    await page.getByRole('button', { name: 'Create alert', exact: true }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Name' }).fill('too many failures')
    await form.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'shop' }).click()
    await form.getByRole('textbox', { name: 'Address' }).fill(`${receiver.url}services/word-of-honour`)
    await form.getByRole('button', { name: 'Create alert' }).click()

    const row = page.getByRole('row', { name: /too many failures/ })
    await row.getByText('Change failure rate of shop is above 15 % for 14 days').waitFor()
    await row.getByRole('button', { name: 'Test' }).click()
    await row.getByText('The message was delivered.').waitFor()
    expect(receiver.received).toMatchObject([
      { path: '/services/word-of-honour', body: { text: expect.stringContaining('this is a test') } },
    ])
    await row.getByText(/^Delivered just now: a test$/).waitFor()
    expect(await page.content()).not.toContain('word-of-honour')

    // “Wrong” refers to the number, never to the delivery.
    const told = { kind: 'broken', body: '{}', state: 'sent', sent_at: new Date() }
    await insertRow(client.database.database.kysely, alertMessages, { alert_id: 1, ...told })
    await page.reload()
    await row.getByText(/^Delivered just now: that the limit is broken$/).waitFor()

    await row.getByRole('button', { name: 'Edit' }).click()
    await form.getByRole('textbox', { name: 'Limit' }).fill('20')
    await form.getByRole('button', { name: 'Save' }).click()
    await row.getByText('is above 20 % for 14 days').waitFor()
    const { body } = await client.server.ask('GET', '/v1/alerts')
    expect(body.alerts).toMatchObject([{ threshold: 0.2, windowDays: 30, forDays: 14, target: { kind: 'slack' } }])

    receiver.answerWith(410)
    await row.getByRole('button', { name: 'Test' }).click()
    await row.getByRole('status').filter({ hasText: '410' }).waitFor()
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete alert' }).click()
    await row.waitFor({ state: 'detached' })
    await receiver.stop()
  })

  it('makes digests, and shows what the server refuses', async () => {
    client.expectComplaint('400')
    const page = await client.open('/settings/alerts?create=true')
    const form = page.getByRole('dialog')
    await form.getByText('Once a week').click()
    await form.getByRole('textbox', { name: 'Name' }).fill('every Monday')
    await form.getByRole('textbox', { name: 'Address' }).fill('not an address')
    await form.getByRole('button', { name: 'Create alert' }).click()
    await form.getByRole('alert').getByText('must begin with https://').waitFor()
    await form.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/hook')
    await form.getByRole('button', { name: 'Create alert' }).click()
    await page.getByRole('row', { name: /every Monday.*Monday at 08:00 UTC, all projects/ }).waitFor()
  })
})
