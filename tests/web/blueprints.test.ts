/** Blueprints in a browser: schedules, and plans written by hand. */
import { expect, it } from 'vitest'
import { startFakeGithub } from '../fake-github/fake-github.ts'
import { startOrganisation } from '../support/organisation.ts'
import { describeClient } from './support/client.ts'
import { ask, makeShop } from './support/shop.ts'

const TAKES_LONG = { timeout: 120_000 }

describeClient('blueprints', (client) => {
  const { open, expectComplaint } = client

  it('say in words when they run, and what a run would do', TAKES_LONG, async () => {
    const github = await startOrganisation()
    const { blueprintId } = await makeShop(client.server, github)
    const page = await open('/projects/shop?tab=blueprint')
    await page.getByText('Every day at 00:00 UTC. Next:').waitFor()
    await page.getByText('Cron', { exact: true }).click()
    await page.getByLabel('Cron expression').fill('30 2 * * 1-5')
    await page.getByText('From Monday to Friday at 02:30 UTC. Next:').waitFor()
    expectComplaint('400')
    await page.getByLabel('Cron expression').fill('every day')
    await page.getByRole('alert').getByText('Write five fields such as 0 0 * * *').waitFor()
    await page.getByLabel('Cron expression').fill('0 6 * * *')
    await page.getByText('Every day at 06:00 UTC.').waitFor()
    await page.getByLabel('Collect what was changed after').fill('2026-01-31')
    await page.getByRole('switch', { name: 'Continue with the others' }).click()

    await page.getByRole('button', { name: 'Show the plan' }).click()
    const plan = page.getByRole('dialog')
    await plan.getByText('With your changes, which are not saved yet.').waitFor()
    await plan.getByText('acme/web').first().waitFor()
    await page.keyboard.press('Escape')

    // Unsaved changes survive a reload of the page.
    await page.reload()
    await page.getByText('Your changes are not saved yet.').waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The next run follows it.').waitFor()
    expect(await ask(client.server, 'GET', `/blueprints/${blueprintId}`)).toMatchObject({
      cronConfig: '0 6 * * *',
      skipOnFail: false,
      timeAfter: '2026-01-31T00:00:00.000Z',
    })
    await page.getByRole('button', { name: 'Collect now' }).click()
    await page.waitForURL(/\/runs\/\d+/)
    await page.getByText('done', { exact: true }).first().waitFor()
  })

  it('choose among the scopes that their sources are set up for', async () => {
    const [{ id }] = (await ask(client.server, 'GET', '/blueprints')).blueprints
    const page = await open('/projects/shop?tab=blueprint')
    const scope = page.getByRole('checkbox', { name: 'acme/web' })
    await scope.uncheck()
    await page.getByText('Choose at least one scope of every connection, or take it out.').waitFor()
    expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Take out' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The next run follows it.').waitFor()
    expect((await ask(client.server, 'GET', `/blueprints/${id}`)).connections).toEqual([])
    await page.getByRole('button', { name: 'Add a connection' }).click()
    await page.getByRole('menuitem', { name: /shop github/ }).click()
    await scope.check()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Your changes are not saved yet.').waitFor({ state: 'hidden' })
    expect((await ask(client.server, 'GET', `/blueprints/${id}`)).connections).toMatchObject([{ pluginName: 'github' }])
  })

  it('show what another person saved before mine goes over it', async () => {
    const [{ id }] = (await ask(client.server, 'GET', '/blueprints')).blueprints
    const page = await open(`/blueprints/${id}`)
    await page.getByText('Weekly', { exact: true }).click()
    await ask(client.server, 'PATCH', `/blueprints/${id}`, { cronConfig: '0 0 1 * *', skipOnFail: true })
    expectComplaint('412')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const conflict = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' })
    await conflict.getByText('0 0 1 * *').waitFor()
    await conflict.getByRole('button', { name: 'Take theirs' }).click()
    await page.getByText('On the 1st of every month at 00:00 UTC.').waitFor()
    await page.getByText('Your changes are not saved yet.').waitFor({ state: 'hidden' })
  })

  it('take in what matches a selector, which can be added, deleted and brought back', TAKES_LONG, async () => {
    const names = ['acme/api', 'acme/play-1', 'acme/web']
    const repositories = [...names.map((name) => ({ name })), { name: 'acme/attic', archived: true }]
    const github = await startFakeGithub({ world: { repositories } })
    const { blueprintId, connectionId } = await makeShop(client.server, github, 'bank')
    const { scopes } = await ask(client.server, 'GET', `/v1/connections/github/${connectionId}/scopes?searchTerm=api`)
    const link = { pluginName: 'github', connectionId, scopes: [{ scopeId: scopes[0].id }] }
    await ask(client.server, 'PATCH', `/blueprints/${blueprintId}`, { connections: [link] })
    const collected = async () => (await ask(client.server, 'GET', `/blueprints/${blueprintId}`)).connections[0].scopes
    const selectors = async () => (await ask(client.server, 'GET', `/v1/blueprints/${blueprintId}/selectors`)).selectors

    const page = await open('/projects/bank?tab=blueprint')
    const card = page.getByRole('region', { name: 'What is added automatically' })
    await card.getByText('None yet: only what is ticked above is collected.').waitFor()
    await card.getByRole('button', { name: 'Add a selector' }).click()
    await page.waitForURL(/drawer=selector/)
    const drawer = page.getByRole('dialog', { name: 'Add a selector' })
    expect(await drawer.getByRole('combobox', { name: 'Connection' }).inputValue()).toBe('bank github (GitHub)')
    await drawer.getByLabel('Names and patterns').fill('acme/wep')
    await drawer.getByText('Nothing fits acme/wep: check the spelling').waitFor()
    expectComplaint('400')
    await drawer.getByRole('button', { name: 'Add selector' }).click()
    await drawer.getByRole('alert').getByText('did you mean acme/web?').waitFor()
    expect(await selectors()).toEqual([])

    await drawer.getByLabel('Names and patterns').fill('acme/*')
    await drawer.getByText('3 match now, 2 of them new.').waitFor()
    await drawer.getByLabel('Without').fill('acme/play-*')
    await drawer.getByText('2 match now, 1 of them new.').waitFor()
    await drawer.getByRole('region', { name: 'Matches' }).getByText('acme/web').waitFor()
    await drawer.getByRole('button', { name: 'Add selector' }).click()
    await page.getByText('1 repository added. The next run collects what is new.').waitFor()
    await drawer.waitFor({ state: 'hidden' })
    await card.getByText('acme/*', { exact: true }).last().waitFor()
    await card.getByText('from bank github, without acme/play-*').waitFor()
    await expect.poll(() => page.getByRole('checkbox', { name: 'acme/web' }).isChecked()).toBe(true)
    expect(await collected()).toHaveLength(2)
    await card.getByRole('button', { name: 'What matches now: acme/*' }).click()
    await card.getByText('2 match now, all of them here already.').waitFor()

    const stored = await selectors()
    await card.getByRole('button', { name: 'Delete acme/*' }).click()
    await page.getByText('The scopes that it added stay in the project. It adds no new ones.').waitFor()
    await card.getByText('None yet').waitFor()
    expect(await selectors()).toEqual([])
    expect(await collected()).toHaveLength(2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await card.getByRole('button', { name: 'Delete acme/*' }).waitFor()
    expect(await selectors()).toEqual(stored)

    // A new selector takes effect at once and would be lost with unsaved changes, so adding one is disabled.
    await page.getByRole('checkbox', { name: 'acme/play-1' }).check()
    await card.getByText('Save what you changed above first').waitFor()
    expect(await card.getByRole('button', { name: 'Add a selector' }).isDisabled()).toBe(true)
    await github.stop()
  })

  it(
    'run a plan that somebody writes, with help: templates, completion, problems with their line',
    TAKES_LONG,
    async () => {
      await ask(client.server, 'POST', '/plugins/customize/issues/fields', {
        columnName: 'x_points',
        displayName: 'Points',
        dataType: 'varchar(255)',
        description: '',
      })
      const page = await open('/blueprints')
      await page.getByRole('link', { name: 'Write a plan' }).click()
      await page.getByLabel('Name').fill('custom fields')
      const editor = page.getByRole('textbox', { name: 'Plan' })
      const problems = page.getByRole('list', { name: 'Problems' })

      await editor.fill('[[{ "plugin": "customise" ]]')
      await problems.getByText('This is not JSON').waitFor()
      await editor.fill('[\n  [\n    { "plugin": "customise",\n      "options": {} }\n  ]\n]')
      await problems.getByText('did you mean customize?').waitFor()
      await problems.getByText('Line 3').waitFor()
      await editor.fill('[\n  [\n    {\n "plugin": "customize",\n "options": { "transformationRule": [] } }\n  ]\n]')
      await problems.getByText('did you mean transformationRules?').waitFor()
      await problems.getByText('customize needs the option transformationRules').waitFor()
      expect(await problems.getByText('Line 5').count()).toBe(2)

      await editor.fill('[[{ "plugin": "dora", "subtasks": [""] }]]')
      for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('Control+Space')
      await page.getByRole('option', { name: /calculateChangeLeadTime/ }).waitFor()
      await page.keyboard.press('Escape')

      await editor.fill('[\n  { "plugin": "dora", "options": { "projectName": "shop" } },\n  { "plugin": "dorra" }\n]')
      await problems.getByText('did you mean dora?').waitFor()
      await problems.getByText('Line 3').waitFor()
      await editor.fill('[{ "plugin": "dora", "options": { "projectName": "shop" } }]')
      await problems.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Add a task' }).click()
      await page.getByRole('menuitem', { name: /Custom fields and CSV files/ }).click()
      await page.getByRole('button', { name: 'Show the plan' }).click()
      await page.getByRole('dialog').getByText('2 tasks in 2 stages').waitFor()
      await page.keyboard.press('Escape')

      await editor.fill('[]')
      await page.getByRole('button', { name: 'Add a task' }).click()
      await page.getByRole('menuitem', { name: /Custom fields and CSV files/ }).click()
      await editor.getByText('"transformationRules"').waitFor()
      await problems.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Show the plan' }).click()
      await page.getByRole('dialog').getByText('1 task in 1 stage').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Create blueprint' }).click()
      await page.getByRole('heading', { level: 1, name: 'custom fields' }).waitFor()

      await page.getByRole('button', { name: 'Collect now' }).click()
      await page.waitForURL(/\/runs\/\d+/)
      await page.getByText('done', { exact: true }).first().waitFor()
      await page.goBack()
      await page.getByRole('link', { name: /^Run \d+$/ }).waitFor()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('button', { name: 'Delete blueprint' }).click()
      await page.getByRole('heading', { level: 1, name: 'Blueprints' }).waitFor()
    },
  )
})
