/** The rollouts of a project in a browser: counted ones, joined ones, undoing a join, and the changes by an update. */
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { calculate } from '../metrics/calculate.ts'
import { WORLD } from '../rollouts/world.ts'
import { describeClient } from './support/client.ts'
import { ask } from './support/shop.ts'

describeClient('rollouts', (client) => {
  beforeAll(async () => {
    const { database } = client.database
    await ask(client.server, 'POST', '/projects', {
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: '', enable: true }],
    })
    await write(database, WORLD)
    // The state that an update leaves.
    await sql`insert into _weir_number_changes (project_name, name, reason) values ('shop', 'rollouts', '')`.execute(
      database.kysely,
    )
    await calculate(database, 'shop')
  })

  it('say once what an update changed, and which way of counting is in force', async () => {
    const page = await client.open('/projects/shop')
    const notice = page.getByRole('region', { name: 'Numbers changed' })
    await notice.getByText('5 deployments of the last 6 months told of rollouts that another stands for').waitFor()
    await notice
      .getByRole('row', { name: /Change failure rate/ })
      .getByText('of 10', { exact: false })
      .waitFor()
    await notice.getByRole('button', { name: 'Understood' }).click()
    await notice.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('A rollout counts once, however many rows tell of it.').waitFor()
    expect(await notice.count()).toBe(0)
  })

  it('are listed with the row that stands for each and why, and can be kept apart', async () => {
    const page = await client.open('/projects/shop?tab=rollouts')
    await page.getByRole('heading', { name: '5 rollouts are told by more than one row' }).waitFor()
    const run = page.getByRole('row', { name: /run 3/ })
    await run.getByText('The tool says that this run made the deployment.').waitFor()
    await run.getByText('not counted').waitFor()
    await page.getByRole('button', { name: 'Keep run 3 apart' }).click()
    await page.getByRole('heading', { name: '4 rollouts are told by more than one row' }).waitFor()
    const rules = page.getByRole('region', { name: 'Rules' })
    await rules.getByText('n3, p3').waitFor()
    await rules.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: '5 rollouts are told by more than one row' }).waitFor()
  })

  it('are named where a number is explained, and every row counts by that policy', async () => {
    const page = await client.open('/projects/shop?explain=deployment-frequency&reason=same_rollout')
    const drawer = page.getByRole('dialog')
    await drawer.getByText('A rollout that several rows tell of counts once.', { exact: false }).waitFor()
    await drawer.getByText('the same rollout as n3 (acme/web)').waitFor()
    await page.goto(`${client.server.url}/projects/shop?tab=policies`)
    await page.getByText('In force: a rollout counts once').waitFor()
    await page.getByRole('switch', { name: 'Use every-row' }).click()
    await page.getByText('In force: every row counts').waitFor()
    await page.goto(`${client.server.url}/projects/shop`)
    await page.getByText('the policy “every-row” is in force').waitFor()
  })
})
