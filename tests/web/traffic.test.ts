/** The page of a switch that is under way. */
import { afterAll, expect, it } from 'vitest'
import { startWorld } from '../traffic/support/world.ts'
import { describeOwnServer } from './support/client.ts'

const world = await startWorld()
const several = await startWorld(undefined, ['web', 'admin'])
afterAll(() => Promise.all([world.close(), several.close()]))

describeOwnServer(
  'a switch under way',
  (client) => {
    it('draws the split, says what is live, and rolls back when its name is typed', async () => {
      const base = '/v1/traffic-switches'
      const { body } = await client.server.ask('POST', base, world.plan)
      for (const action of ['prepare', 'advance', 'advance'])
        expect((await client.server.ask('POST', `${base}/${body.id}/transitions`, { action })).status).toBe(200)
      const page = await client.open(`/traffic/${body.id}`)
      await page.getByRole('img', { name: 'Share of green over time, now 50 %' }).waitFor()
      await page.getByText('50/50 on 1 rule').waitFor()
      await page.getByText('2 of 2 healthy').waitFor()

      await page.getByRole('button', { name: 'Roll back' }).click()
      const dialog = page.getByRole('dialog')
      expect(await dialog.getByRole('button', { name: 'Roll back' }).isDisabled()).toBe(true)
      await dialog.getByLabel(`Type ${world.plan.name} to confirm`).fill(world.plan.name)
      await dialog.getByRole('button', { name: 'Roll back' }).click()
      await page.getByText('rolled back').first().waitFor()
      await page.getByRole('img', { name: 'Share of green over time, now 0 %' }).waitFor()
      expect(world.liveWeights()).toEqual([100, 0])
    })
  },
  world.environment,
)

describeOwnServer(
  'a switch of several routes',
  (client) => {
    it('tells them apart, and rolls all of them back', async () => {
      const base = '/v1/traffic-switches'
      const { body } = await client.server.ask('POST', base, several.whole)
      for (const action of ['prepare', 'advance', 'advance'])
        expect((await client.server.ask('POST', `${base}/${body.id}/transitions`, { action })).status).toBe(200)
      const page = await client.open(`/traffic/${body.id}`)
      await page.getByText('routes web, admin: 50 % of requests go to green').waitFor()
      for (const route of ['web', 'admin'])
        await page.getByRole('row', { name: `${route} 50/50 on 1 rule 2 of 2 healthy` }).waitFor()

      await page.getByRole('button', { name: 'Roll back' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(`Type ${several.whole.name} to confirm`).fill(several.whole.name)
      await dialog.getByRole('button', { name: 'Roll back' }).click()
      for (const route of ['web', 'admin']) await page.getByRole('row', { name: `${route} 100/0 on 1 rule` }).waitFor()
      for (const route of several.routes) expect(several.liveWeights(route)).toEqual([100, 0])
    })
  },
  several.environment,
)
