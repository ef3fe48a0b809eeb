/** Webhooks of a source on the page of its connection: from the secret to the result of a delivery. */
import AxeBuilder from '@axe-core/playwright'
import { expect, it } from 'vitest'
import { type Delivery, signed } from '../fake-github/deliveries.ts'
import { describeClient } from './support/client.ts'

const PING: Delivery = { event: 'ping', payload: { zen: 'Speak like a human.' } }
const ELSEWHERE: Delivery = {
  event: 'issues',
  payload: { action: 'opened', issue: { id: 1, number: 1 }, repository: { id: 7, full_name: 'acme/elsewhere' } },
}

describeClient('webhooks of a source', (client) => {
  it('are set up on the page of the connection, which shows what came', async () => {
    const settings = { name: 'our GitHub', endpoint: 'http://127.0.0.1:9/', authMethod: 'AccessToken', token: 'none' }
    const { body } = await client.server.ask('POST', '/plugins/github/connections', settings)
    const page = await client.open(`/sources/github/${body.id}`)
    await page.getByRole('heading', { name: 'Webhooks of GitHub' }).waitFor()
    await page.getByRole('button', { name: 'Create secret' }).click()
    await page.getByText('Copy the secret now').waitFor()
    const [address, secret] = await page.getByRole('definition').locator('code').allTextContents()
    expect(address).toMatch(new RegExp(`/v1/plugins/github/connections/${body.id}/deliveries$`))
    const send = async (delivery: Delivery, key = secret as string) => {
      const { body: text, headers } = signed(delivery, key)
      return (await fetch(address as string, { method: 'POST', body: text, headers })).status
    }
    expect(await send(PING)).toBe(202)
    await page.getByText('GitHub reaches this address').waitFor()
    expect(await send(PING, 'another')).toBe(401)
    await page.getByText('not signed with the secret').waitFor()
    expect(await send(ELSEWHERE)).toBe(202)
    await page.getByText('acme/elsewhere is no scope of this connection').waitFor()
    await page.getByRole('button', { name: 'issues' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('button', { name: 'Apply again' }).click()
    await drawer.getByText('acme/elsewhere is no scope of this connection').waitFor()
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])

    await page.reload()
    await page.getByText('It was shown when it was made').waitFor()
    expect(await page.getByText(secret as string).count()).toBe(0)
  })
})
