/** From nothing to a prepared switch, using only the pages. */
import type { Page } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { startWorld } from '../traffic/support/world.ts'
import { describeOwnServer } from './support/client.ts'

const world = await startWorld()
afterAll(() => world.close())

const choose = async (page: Page, label: string | RegExp, option: string | RegExp) => {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option }).click()
}

describeOwnServer(
  'a switch that is made on the page',
  (client) => {
    it('refuses pasted manifests of two applications with a sentence, and stores nothing', async () => {
      const before = (await client.server.ask('GET', '/v1/traffic-switches')).body.length
      const other = structuredClone(world.target.get('Ingress', 'shop', 'web')!) as any
      for (const rule of other.spec.rules) rule.host = `blog.${rule.host}`
      client.expectComplaint('422')
      const page = await client.open('/traffic/new')
      await page.getByText('Paste manifests').click()
      await page.getByRole('textbox', { name: 'Cluster that traffic leaves', exact: true }).fill('blue')
      await page.getByRole('textbox', { name: 'Cluster that gets it', exact: true }).fill('green')
      await page.getByRole('textbox', { name: 'Namespace' }).fill('shop')
      await page.getByRole('textbox', { name: 'Ingress', exact: true }).fill('web')
      await page.getByRole('textbox', { name: 'Project' }).fill('shop')
      const current = [world.current.get('Ingress', 'shop', 'web'), world.current.get('Service', 'shop', 'web')]
      await page
        .getByRole('textbox', { name: 'Manifests of the cluster that traffic leaves' })
        .fill(stringify({ items: current }))
      await page.getByRole('textbox', { name: 'Manifests of the cluster that gets it' }).fill(stringify(other))
      await page.getByRole('button', { name: 'Make a plan' }).click()
      await choose(page, /leads to these Services/, /^web: /)
      await page.getByRole('button', { name: 'Make a plan' }).click()
      await page
        .getByText('These are two applications: Ingress web of the current cluster serves shop.example.com')
        .waitFor()
      expect((await client.server.ask('GET', '/v1/traffic-switches')).body).toHaveLength(before)
    })

    it('is imported from two contexts, corrected, checked, prepared, moved and rolled back', async () => {
      const page = await client.open('/traffic')
      await page.getByRole('link', { name: 'New switch' }).click()
      await choose(page, 'Cluster that traffic leaves', 'blue')
      await choose(page, 'Cluster that gets it', 'green')
      await page.getByRole('textbox', { name: 'Namespace' }).fill('shop')
      await page.getByRole('textbox', { name: 'Ingress' }).fill('web')
      await page.getByRole('textbox', { name: 'Project' }).fill('shop')
      await page.getByRole('button', { name: 'Make a plan' }).click()
      await choose(page, /leads to these Services/, /^web: shop.example.com\/ to web:80/)
      await page.getByRole('button', { name: 'Make a plan' }).click()
      const plan = page.getByRole('textbox', { name: 'Plan', exact: true })
      await page.getByText('Nothing is wrong with this plan.').waitFor()
      await page.getByRole('img', { name: /^Simulated share of the target/ }).waitFor()

      const store = page.getByRole('button', { name: 'Store as a draft' })
      const good = (await plan.inputValue()).replaceAll('dwellSeconds: 600', 'dwellSeconds: 0')
      await plan.fill(good.replace('target: 10', "target: 'ten'"))
      await page.getByText('TS-W01').waitFor()
      expect(await store.isDisabled()).toBe(true)
      await plan.fill(good)
      await page.getByText('Nothing is wrong with this plan.').waitFor()
      await store.click()

      await page.getByLabel('Headline').getByText('draft, 100 % blue').waitFor()
      await page.getByRole('button', { name: 'Check' }).click()
      await page.getByText('the plan fits what is live').waitFor()
      const act = async (name: string) => {
        await page.getByRole('button', { name, exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      }
      await act('Prepare')
      await page.getByLabel('Headline').getByText('prepared, 100 % blue').waitFor()
      await act('Advance')
      await page.getByLabel('Headline').getByText('shifting, 90 % blue, 10 % green').waitFor()
      expect(world.liveWeights()).toEqual([90, 10])
      await page.getByRole('button', { name: 'Roll back' }).click()
      await page.getByLabel('Headline').getByText('rolled back, 100 % blue').waitFor()
      expect(world.liveWeights()).toEqual([100, 0])
    })
  },
  world.environment,
)
