/** The page of a switch that is under way. */
import { afterAll, expect, it } from 'vitest'
import { gateSchema } from '../../src/traffic/model/gate-schema.ts'
import { startFakeCloudWatch } from '../fake-aws/fake-cloudwatch.ts'
import { startWorld, type World } from '../traffic/support/world.ts'
import { type Client, describeOwnServer } from './support/client.ts'

const ERROR_RATE = { kind: 'cloudWatch', metric: 'errorRate', max: 0.05 }
const BASE = '/v1/traffic-switches'
const world = await startWorld((plan) => {
  plan.steps[2]!.gates = [{ kind: 'approval' }]
  plan.verifyTimeoutSeconds = 2
})
const several = await startWorld((plan) => (plan.confirmRollback = true), ['web', 'admin'])
const cloudWatch = await startFakeCloudWatch()
const measured = await startWorld((plan) => {
  plan.steps[1] = { ...plan.steps[1]!, dwellSeconds: 3600, gates: [gateSchema.parse(ERROR_RATE)] }
})
afterAll(() => Promise.all([world.close(), measured.close(), several.close(), cloudWatch.close()]))

async function begin(client: Client, { whole }: World, ...actions: readonly string[]): Promise<string> {
  const { body } = await client.server.ask('POST', BASE, whole)
  for (const action of actions)
    expect((await client.server.ask('POST', `${BASE}/${body.id}/transitions`, { action })).status).toBe(200)
  return body.id
}

describeOwnServer(
  'a switch under way',
  (client) => {
    it('says what is live, which gate decides and what comes next, and rolls back with one click', async () => {
      const id = await begin(client, world, 'prepare', 'advance', 'advance')
      const page = await client.open(`/traffic/${id}`)
      await page.getByLabel('Headline').getByText('shifting, 50 % blue, 50 % green').waitFor()
      await page.getByRole('img', { name: 'Share of green over time, now 50 %' }).waitFor()
      const route = page.getByRole('listitem', { name: 'Route web' })
      await route.getByText('50/50 on 1 rule').waitFor()
      await route.getByText('2 of 2 targets healthy').waitFor()
      await page.getByRole('listitem', { name: 'Gate approval' }).getByText('asks: somebody approves').waitFor()
      await page.getByRole('listitem', { name: 'Gate approval' }).getByText('decides').waitFor()
      await page
        .getByText('Step 3 of 3 (0/100) comes when somebody advances, and only when gate approval passes')
        .waitFor()
      await page.getByText('Step 2 of 3 (50/50) is in force.').waitFor()
      const present = page.locator('.steps [aria-current=step]')
      expect(await present.innerText()).toMatch(/^2\s+50\/50\s+in force/i)

      await page.getByRole('button', { name: 'Roll back' }).click()
      await page.getByLabel('Headline').getByText('rolled back, 100 % blue').waitFor()
      await page.getByRole('img', { name: 'Share of green over time, now 0 %' }).waitFor()
      expect(world.liveWeights()).toEqual([100, 0])

      // Aborted is a separate state, in which there is nothing to reverse.
      await page.getByRole('button', { name: 'Abort' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(`Type ${world.plan.name} to confirm`).fill(world.plan.name)
      await dialog.getByRole('button', { name: 'Abort' }).click()
      await page.getByLabel('Headline').getByText('aborted, 100 % blue').waitFor()
      expect(await page.getByRole('button', { name: 'Reverse' }).count()).toBe(0)
      await page.goto(`${client.server.url}/traffic`)
      await page.getByRole('row', { name: /aborted.*100 % blue/ }).waitFor()
    })

    it('tells weights that somebody else set, with the ways on, also on a phone', async () => {
      const id = await begin(client, world, 'prepare', 'advance')
      const key = 'alb.ingress.kubernetes.io/actions.web-switch'
      const ingress = structuredClone(world.current.get('Ingress', 'shop', 'web')!) as any
      ingress.metadata.annotations[key] = ingress.metadata.annotations[key].replace('"weight":90', '"weight":70')
      world.current.seed(ingress, 'kubectl-edit')
      client.expectComplaint('409')
      const page = await client.open(`/traffic/${id}`, { viewport: { width: 390, height: 844 } })
      // The server checks now and then, and pauses a switch that drifted.
      await page
        .getByLabel('Headline')
        .getByText(/^(shifting|paused), 88 % blue, 13 % green/)
        .waitFor()
      await page.getByText('70/10 on 1 rule').first().waitFor()
      await page.getByRole('button', { name: 'Continue from what is live' }).click()
      const dialog = page.getByRole('dialog')
      expect(await dialog.getByRole('button', { name: 'Continue from what is live' }).isDisabled()).toBe(true)
      await dialog.getByLabel('Reason').fill('the night shift set it')
      await dialog.getByRole('button', { name: 'Continue from what is live' }).click()
      await page.getByLabel('Headline').getByText('shifting, 50 % blue, 50 % green').waitFor()
      const widest = await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth)
      expect(widest).toBeLessThanOrEqual(390)
      await page.getByRole('button', { name: 'Roll back' }).click()
      await page.getByLabel('Headline').getByText('rolled back, 100 % blue').waitFor()
    })
  },
  world.environment,
)

describeOwnServer(
  'a switch of several routes',
  (client) => {
    it('tells them apart, and rolls all of them back, with the name where the plan asks for it', async () => {
      const id = await begin(client, several, 'prepare', 'advance', 'advance')
      const page = await client.open(`/traffic/${id}`)
      await page.getByText('routes web, admin').waitFor()
      const route = (name: string) => page.getByRole('listitem', { name: `Route ${name}` })
      for (const name of ['web', 'admin']) await route(name).getByText('50/50 on 1 rule').waitFor()

      await page.getByRole('button', { name: 'Roll back' }).click()
      const dialog = page.getByRole('dialog')
      expect(await dialog.getByRole('button', { name: 'Roll back' }).isDisabled()).toBe(true)
      await dialog.getByLabel(`Type ${several.whole.name} to confirm`).fill(several.whole.name)
      await dialog.getByRole('button', { name: 'Roll back' }).click()
      for (const name of ['web', 'admin']) await route(name).getByText('100/0 on 1 rule').waitFor()
      for (const own of several.routes) expect(several.liveWeights(own)).toEqual([100, 0])
    })
  },
  several.environment,
)

describeOwnServer(
  'a switch whose plan names a source of numbers',
  (client) => {
    it('shows requests and errors of both clusters, and when the next step may come', async () => {
      const id = await begin(client, measured, 'prepare', 'advance')
      const minute = Math.floor(Date.now() / 60_000) * 60 - 600
      const own = [...measured.elb.groups.values()].find(({ name }) => name === measured.plan.targetGroup.name)!
      const rules = [...measured.elb.rules.values()].flatMap(({ action }) => ('groups' in action ? action.groups : []))
      const other = rules.find(({ arn }) => arn !== own.arn)!
      cloudWatch.put('RequestCount', other.arn, minute, 900)
      cloudWatch.put('RequestCount', own.arn, minute, 100)
      cloudWatch.put('HTTPCode_Target_5XX_Count', own.arn, minute, 5)
      const page = await client.open(`/traffic/${id}`)
      await page.getByRole('img', { name: 'blue: 900 requests, 0 answered with 5xx (0 %)' }).waitFor()
      await page.getByRole('img', { name: 'green: 100 requests, 5 answered with 5xx (5 %)' }).waitFor()
      await page.getByText('Step 2 of 3 (50/50) comes when somebody advances, in').waitFor()
      await page.getByText('asks: the error rate of the target stays at most 0.05').waitFor()

      measured.elb.now = () => new Date(Date.now() - 2 * 3_600_000)
      await page.getByText('The clock of the machine that runs Weir is 120 minutes ahead of the clock of AWS').waitFor()
    })
  },
  { ...measured.environment, AWS_ENDPOINT_URL_CLOUDWATCH: cloudWatch.url },
)
