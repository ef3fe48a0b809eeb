import { expect, it } from 'vitest'
import { describeClient } from './support/client.ts'

describeClient('the page of groups', (client) => {
  const groups = async () => (await client.server.ask('GET', '/v1/groups')).body.groups

  it('makes a group, puts one into another, sets a target and deletes it', async () => {
    client.expectComplaint('400')
    for (const name of ['shop', 'bank']) await client.server.ask('POST', '/projects', { name })
    const page = await client.open('/settings/groups')
    await page.getByText('No groups yet').waitFor()
    const form = page.getByRole('dialog')
    const create = async (name: string, project: string) => {
      await page.getByRole('button', { name: 'Create group', exact: true }).click()
      await form.getByRole('textbox', { name: 'Name' }).fill(name)
      await form.getByRole('combobox', { name: 'Projects' }).click()
      await page.getByRole('option', { name: project }).click()
      await page.keyboard.press('Tab')
      await form.getByRole('button', { name: 'Create group' }).click()
      await form.waitFor({ state: 'detached' })
    }
    await create('Company', 'shop')
    await create('Web', 'bank')
    const row = page.getByRole('row', { name: /^Web/ })
    const edit = async (name: RegExp, parent: string) => {
      await page.getByRole('row', { name }).getByRole('button', { name: 'Edit' }).click()
      await form.getByRole('combobox', { name: 'Inside' }).click()
      await page.getByRole('option', { name: parent }).click()
      await form.getByRole('button', { name: 'Save' }).click()
    }
    await edit(/^Web/, 'Company')
    await form.waitFor({ state: 'detached' })
    expect(await groups()).toMatchObject([
      { name: 'Company', projects: ['shop'], groups: ['Web'], allProjects: 2 },
      { name: 'Web', parent: 'Company', projects: ['bank'] },
    ])
    await edit(/^Company/, 'Web')
    await form.getByRole('alert').getByText('The group Company would contain itself').waitFor()
    await form.getByRole('textbox', { name: 'Target, in hours' }).fill('24')
    await form.getByRole('button', { name: 'Set target' }).click()
    await form.getByRole('row', { name: /Change lead time 1 d here/ }).waitFor()
    await form.getByRole('button', { name: 'Cancel' }).click()

    const project = await client.open('/projects/bank?tab=settings')
    const targets = project.getByRole('region', { name: 'Targets' })
    await targets.getByRole('row', { name: /Change lead time 1 d group Company/ }).waitFor()

    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete group' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await groups()).toMatchObject([{ name: 'Company', groups: [], allProjects: 1 }])
  })

  it('switches personal views off', async () => {
    const page = await client.open('/settings/people')
    await page.getByRole('switch', { name: 'Everybody may see their own work' }).click()
    await expect.poll(async () => (await client.server.ask('GET', '/v1/personal-views')).body).toEqual({ isOn: false })
  })
})
