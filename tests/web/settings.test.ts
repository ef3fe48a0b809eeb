import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { insertRow } from '../../src/control-plane/store.ts'
import { pipelineLeases, servers } from '../../src/system/runs.ts'
import { taskRuns } from '../../src/system/workers.ts'
import { describeOwnServer } from './support/client.ts'

/** The suggestions of the form, each with a request that it allows. */
const SUGGESTED = [
  ['Read numbers', 'viewer', 'GET', '/v1/metrics/deployment-frequency?project=shop'],
  ['Everything', 'viewer', 'GET', '/projects'],
  ['Start runs', 'operator', 'POST', '/blueprints/1/trigger'],
  ['Send to any webhook', 'operator', 'POST', '/plugins/webhook/connections/1/deployments'],
] as const

describeOwnServer('the settings', (client) => {
  const { open } = client

  it('make keys that open what the form suggests', async () => {
    await client.server.ask('POST', '/projects', { name: 'shop' })
    const page = await open('/settings/api-keys')
    await page.getByText('No keys yet').waitFor()
    for (const [label, role, method, path] of SUGGESTED) {
      await page.getByRole('button', { name: 'Create key', exact: true }).click()
      const form = page.getByRole('dialog')
      await form.getByRole('textbox', { name: 'Name' }).fill(`to ${label}`)
      await form.getByRole('button', { name: label }).click()
      await form.getByRole('combobox', { name: 'What it may do there' }).click()
      await page.getByRole('option', { name: new RegExp(`^${role}`, 'i') }).click()
      await form.getByRole('button', { name: 'Create key' }).click()
      const key = await page.getByTestId('key').textContent()
      const bearer = { authorization: `Bearer ${key}` }
      const { status, text } = await client.server.ask(
        method,
        `/rest${path}`,
        method === 'POST' ? {} : undefined,
        bearer,
      )
      // The key was accepted: a refusal after that has other reasons.
      expect([401, 403], `${label}: ${text}`).not.toContain(status)
      expect(await client.server.ask('GET', '/rest/v1/audit', undefined, bearer)).toMatchObject({ status: 403 })
      await page.getByRole('button', { name: 'I have it' }).click()
      await page.getByRole('cell', { name: `to ${label}` }).waitFor()
      expect(await page.getByTestId('key').count()).toBe(0)
    }
  })

  it('renew and delete keys, and explain what is wrong with a pattern', async () => {
    client.expectComplaint('400')
    const page = await open('/settings/api-keys?create=true')
    await page.getByRole('textbox', { name: 'Name' }).fill('broken')
    await page.getByLabel('Paths that it allows').fill('(')
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Create key' }).click()
    await form.getByRole('alert').waitFor()
    await page.getByLabel('Paths that it allows').fill('.*')
    await form.getByRole('button', { name: 'Create key' }).click()
    const first = await page.getByTestId('key').textContent()
    await page.getByRole('button', { name: 'I have it' }).click()
    const row = page.getByRole('row', { name: /broken/ })
    await row.getByRole('button', { name: 'Renew' }).click()
    await page.getByRole('button', { name: 'Renew key' }).click()
    await page.getByTestId('key').waitFor()
    expect(await page.getByTestId('key').textContent()).not.toBe(first)
    await page.getByRole('button', { name: 'I have it' }).click()
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete key' }).click()
    await row.waitFor({ state: 'detached' })
  })

  it('show who changed what, filtered by the address', async () => {
    await client.server.ask('POST', '/projects', { name: 'bank', description: 'before' })
    await client.server.ask('PATCH', '/projects/bank', { description: 'after' })
    const page = await open('/settings/audit?subject=project&action=update')
    await page.getByRole('button', { name: /changed project bank/ }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('cell', { name: '"before"' }).waitFor()
    await drawer.getByRole('cell', { name: '"after"' }).waitFor()
    expect(page.url()).toMatch(/entry=\d+/)
    await page.keyboard.press('Escape')
    await page.getByLabel('Its name or id').fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('button', { name: /created project bank/ }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as JSON lines' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).subjectKey)).toContain('bank')
  })

  it('take teams from a file, tell its wrong line, and undo', async () => {
    client.expectComplaint('400')
    const page = await open('/settings/people')
    const file = (text: string) => ({ name: 'our teams.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    const teams = page.getByLabel('Import Teams')
    const stored = async () => (await client.server.ask('GET', '/plugins/org/teams.csv')).text
    await teams.setInputFiles(file('Id,Name,Alias,ParentId,SortingIndex\n1,Shop,S,,x\n'))
    await page.getByText(/line 2: column SortingIndex/).waitFor()
    await teams.setInputFiles(file('Id,Name,Alias,ParentId,SortingIndex\n1,Shop,S,,0\n'))
    await page.getByText('Teams imported').waitFor()
    expect(await stored()).toContain('Shop')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('as it was before').waitFor()
    expect(await stored()).not.toContain('Shop')
  })

  it('show what fills the database', async () => {
    const page = await open('/settings/storage')
    await page.getByRole('cell', { name: '_devlake_blueprints', exact: true }).waitFor()
    await page.getByText('By scope').click()
    await page.getByText('Nothing was collected yet').waitFor()
    expect(page.url()).toContain('by=scope')
  })

  it('show workers with their tasks, and what waits for them', async () => {
    const { kysely } = client.database.database
    const page = await open('/settings/queue')
    await page.getByText('Servers run tasks themselves').waitFor()
    await page.getByText('Nothing waits').waitFor()
    const worker = 'a worker of a test'
    await insertRow(kysely, servers, {
      holder: worker,
      role: 'worker',
      host: 'crane-1',
      version: '1.2.3',
      concurrency: 8,
    })
    await insertRow(kysely, pipelineLeases, { pipeline_id: 1, holder: 'a server', cancel_requested: false })
    const run = { pipeline_id: 1, plugin: 'github', leases: [], coordinator: 'a server', position: 1 }
    await insertRow(kysely, taskRuns, { ...run, task_id: 901, token: 'a', project: 'harbour', worker })
    await insertRow(kysely, taskRuns, { ...run, task_id: 902, token: 'b', project: 'quay', note: 'It has no plugin.' })
    await page.getByRole('row', { name: /crane-1.*1 of 8.*github, run 1 of harbour/ }).waitFor()
    await page.getByRole('row', { name: /quay.*1.*It has no plugin/ }).waitFor()
    await page.getByRole('alert').getByText('set RUN_TASKS_ON=workers', { exact: false }).waitFor()
  })

  it('apply a configuration after showing what it changes', async () => {
    client.expectComplaint('400')
    const page = await open('/settings/configuration')
    await page.getByRole('textbox', { name: 'File' }).fill('projects:\n  shop:\n    schedle: manual\n')
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page
      .getByRole('alert')
      .getByText(/schedle/)
      .waitFor()
    await page
      .getByRole('textbox', { name: 'File' })
      .fill('projects:\n  yard:\n    description: from a file\n    schedule: manual\n')
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page.getByRole('region', { name: 'Changes' }).getByText(/yard/).first().waitFor()
    expect((await client.server.ask('GET', '/projects/yard')).status).toBe(404)
    await page.getByRole('button', { name: /^Apply \d+ change/ }).click()
    await page.getByText('Applied').waitFor()
    expect((await client.server.ask('GET', '/projects/yard')).body.description).toBe('from a file')
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page.getByText('everything matches the file').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download weir.yaml' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toContain('yard')
  })

  it('tell how the installation is, and keep the theme', async () => {
    const page = await open('/settings')
    await page.getByRole('cell', { name: /answers in \d+ ms/ }).waitFor()
    await page.getByText('Dark', { exact: true }).click()
    await page.locator('[data-mantine-color-scheme="dark"]').waitFor()
    await page.reload()
    await page.locator('[data-mantine-color-scheme="dark"]').waitFor()
  })
})

const TOKENS = { AUTH: 'token', AUTH_TOKENS: 'reader:viewer:a-token-to-read-with' }

describeOwnServer(
  'the settings of a viewer',
  ({ open }) => {
    it('say what only admins see', async () => {
      const page = await open('/settings/api-keys')
      await page.getByLabel('Access token').fill('a-token-to-read-with')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Only admins see this').waitFor()
      expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
      await page.getByRole('link', { name: 'General' }).click()
      await page.getByText('Signed in as reader').waitFor()
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('heading', { name: 'Sign in to Weir' }).waitFor()
    })
  },
  TOKENS,
)
