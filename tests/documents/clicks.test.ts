/**
 * Follows the clicks of README and guide by the words that they print, from an empty server with fakes of GitHub and Jira, to
 * the end. One of the two repositories cannot be cloned, and every page reports this as the tables have it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { initialPlan } from '../../src/traffic/model/init.ts'
import { DEFAULT_TOKEN, type FakeGithub } from '../fake-github/fake-github.ts'
import { type FakeJira, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { issue } from '../fake-jira/jira-world.ts'
import { startOrganisation } from '../support/organisation.ts'
import { describeOwnServer } from '../web/support/client.ts'
import { root } from './blocks.ts'

const TAKES_LONG = { timeout: 240_000 }
/** Words to press or open begin with a capital letter. Explained words do not. */
const PRESSED = /(?<!\*)\*([A-Z][^*]*)\*(?!\*)/g

interface Reader {
  /** Takes words that the document prints in italics. Each is used once, in the order that the test needs. */
  (words: string): string
  /** The words that the test has not used. */
  left(): string[]
}

function readerOf(document: string): Reader {
  const text = readFileSync(join(root, document), 'utf8')
  const left = new Set([...text.matchAll(PRESSED)].map(([, words = '']) => words.replace(/\s+/g, ' ')))
  const said = (words: string) => {
    expect([...left], document).toContain(words)
    left.delete(words)
    return words
  }
  return Object.assign(said, { left: () => [...left] })
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click()

describeOwnServer('clicks of the guide', (client) => {
  let github: FakeGithub
  let jira: FakeJira
  beforeAll(async () => {
    ;[github, jira] = await Promise.all([startOrganisation({ uncloned: ['acme/api'] }), startFakeJira()])
    // A project of the guide collects half a year.
    const now = new Date().toISOString().replace('Z', '+0000')
    jira.issues.push(...[21, 22].map((number) => issue(number, { created: now, updated: now })))
  })
  afterAll(() => Promise.all([github?.stop(), jira?.stop()]))

  const count = async (table: string, where = sql`1 = 1`): Promise<number> => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
      where ${where}`.execute(client.database.database.kysely)
    return Number(rows[0]?.count)
  }
  /** Presses the button, which starts a run or opens a menu of ways to collect. */
  async function collect(page: Page, words: string): Promise<void> {
    await press(page, words)
    const way = page.getByRole('menuitem', { name: /Collect what is new/ })
    await expect
      .poll(
        async () => {
          if (await way.isVisible()) await way.click()
          return page.url()
        },
        { timeout: 120_000 },
      )
      .toMatch(/\/runs\/\d+/)
    await page
      .locator('header.head')
      .getByText(/^(done|partly done)$/)
      .waitFor()
  }
  const walk = (document: string, body: (said: Reader) => Promise<void>) =>
    it(document, TAKES_LONG, async () => {
      const said = readerOf(document)
      await body(said)
      expect(said.left(), `${document}: nothing follows these words`).toEqual([])
    })

  walk('docs/guide/2-connect.md', async (said) => {
    const page = await client.open('/')
    await follow(page, said('Sources'))
    await page.getByRole('link', { name: 'Connect GitHub' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('main')
    await page.getByLabel('Endpoint').fill(`${github.url}/`)
    await page.getByLabel('Personal access tokens').fill(DEFAULT_TOKEN)
    await press(page, said('Test connection'))
    await page.getByText('It works as user-1').waitFor()
    await press(page, 'Save')
    const drawer = page.getByRole('dialog', { name: /What to collect/ })
    await drawer.waitFor()
    // The drawer opens by itself the first time, and the button opens it again.
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await press(page, said('Add repositories'))
    await drawer.getByRole('button', { name: 'acme', exact: true }).click()
    for (const name of ['acme/web', 'acme/api']) await drawer.getByLabel(name).check()
    await drawer.getByRole('button', { name: 'Add 2 repositories' }).click()
    await page.getByText('2 repositories added').waitFor()
    expect(await count('_tool_github_repos')).toBe(2)
  })

  walk('docs/guide/4-project.md', async (said) => {
    const page = await client.open('/')
    await follow(page, said('Projects'))
    await press(page, said('New project'))
    await page.getByRole('textbox', { name: 'Name' }).fill('shop')
    await press(page, 'Create project')
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
    await follow(page, said('Blueprint'))
    const add = async (name: RegExp, words: string, scopes: RegExp) => {
      await press(page, words)
      await page.getByRole('menuitem', { name }).click()
      const offered = page.getByRole('checkbox', { name: scopes })
      await offered.first().waitFor()
      for (const scope of await offered.all()) await scope.check()
    }
    const [another, save, collecting] = [said('Add a connection'), said('Save changes'), said('Collect now')]
    await add(/^main/, another, /^acme\//)
    await press(page, save)
    await page.getByRole('button', { name: save }).waitFor({ state: 'hidden' })
    // The second source, in the words of the document. Its connection is made as the first was.
    const connection = { name: 'tickets', endpoint: jira.url, ...USER }
    await client.server.ask('POST', '/plugins/jira/connections', connection)
    await client.server.ask('PUT', '/plugins/jira/connections/1/scopes', { data: [{ boardId: 5, name: 'Shop' }] })
    await page.reload()
    await add(/^tickets/, another, /^Shop$/)
    await press(page, save)
    await page.getByRole('button', { name: save }).waitFor({ state: 'hidden' })
    await collect(page, collecting)
    await page.locator('header.head').getByText('partly done', { exact: true }).waitFor()
    expect(await count('boards', sql`id like 'jira:%'`)).toBe(1)

    await page.goto(`${client.server.url}/projects/shop`)
    const card = (name: string) => page.getByRole('article', { name, exact: true })
    await card(said('What is not counted')).waitFor()
    const deployed = await count('cicd_deployments', sql`environment = 'PRODUCTION' and result = 'SUCCESS'`)
    await card('Change failure rate').getByText(`of ${deployed} deployments`).waitFor()
    const lead = await count('project_pr_metrics', sql`pr_deployed_date is not null`)
    await card('Change lead time')
      .getByText(new RegExp(`^Median of ${lead} (of \\d+ )?pull requests, from`))
      .waitFor()
    await follow(page, said('Rollouts'))
    await page.waitForURL(/tab=rollouts/)
    await follow(page, said('Webhooks'))
    await page.getByText('change within a minute').waitFor()
  })

  walk('docs/guide/3-rules.md', async (said) => {
    const page = await client.open('/sources')
    await follow(page, 'main')
    await follow(page, said('Rules'))
    await follow(page, 'New rules')
    await page.getByRole('textbox', { name: 'Name' }).fill('services')
    await page.getByRole('textbox', { name: said('Branches that deploy to production') }).waitFor()
    const text = page.getByRole('textbox', { name: said('Text of incidents') })
    await text.fill('(?i)\\boutage\\b')
    const save = said('Save')
    await press(page, save)
    // Choose the scopes that get the rules.
    await page.getByRole('checkbox', { name: /^All/ }).check()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Change / })
      .click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('These rules make the numbers of shop').waitFor()
    await page.getByRole('button', { name: `${said('Show the effect')} on shop` }).click()
    await page.getByText('Last six months').waitFor()
    await text.fill('(?i)\\b(outage|down)\\b')
    await press(page, said('Save and re-transform'))
    await page.waitForURL(/\/runs\/\d+/)
    await page
      .locator('header.head')
      .getByText(/^(done|partly done)$/)
      .waitFor()
    expect(await count('_tool_github_scope_configs', sql`issue_text_incident like '%outage|down%'`)).toBe(1)
  })

  walk('docs/guide/5-dashboards.md', async (said) => {
    const page = await client.open('/')
    await follow(page, said('Dashboards'))
    await page.getByRole('link', { name: /DORA overview/ }).click()
    const partial = page.getByRole('note', { name: 'Partial data' })
    const names = sql`id in (select base_repo_id from pull_requests where merged_date is not null)
      and id not in (select repo_id from repo_commits)`
    const lacking = await count('repos', names)
    expect(lacking).toBe(1)
    await partial.getByText(`no git history for ${lacking} repository (acme/api)`).waitFor()
    await partial.getByText(/In run \d+, 1 of \d+ tasks failed/).waitFor()
    const explain = said('Explain')
    await page
      .getByRole('button', { name: `${explain} change lead time` })
      .first()
      .click()
    await page.getByRole('dialog').getByText('They count').waitFor()
    await page.keyboard.press('Escape')
    await press(page, said('Share'))
    await page.getByRole('dialog', { name: 'Public links' }).waitFor()
  })

  walk('README.md', async (said) => {
    const page = await client.open('/projects/shop')
    await page
      .getByRole('link', { name: new RegExp(`^${said('Explain')} `) })
      .first()
      .click()
    await page.getByRole('dialog').getByText('They count').waitFor()
  })

  walk('docs/guide/6-custom-fields.md', async (said) => {
    const page = await client.open('/')
    for (const words of said('Data → Custom fields').split(' → ')) await follow(page, words)
    await follow(page, said('Add field'))
    await page.getByRole('combobox', { name: 'Scope' }).click()
    await page.getByRole('option', { name: /Shop/ }).click()
    await page.getByLabel('Find a value').fill('summary')
    await page
      .getByRole('button', { name: /fields\.summary/ })
      .first()
      .click()
    await press(page, said('Add and fill the field'))
    await page.locator('header.head').getByText('done', { exact: true }).waitFor()
    const [boards, filled] = [sql`id like 'jira:%'`, sql`id like 'jira:%' and x_summary = title`]
    expect(await count('issues', filled)).toBe(await count('issues', boards))
    expect(await count('issues', filled)).toBeGreaterThan(1)
  })

  walk('docs/guide/7-service-report.md', async (said) => {
    const page = await client.open('/')
    const [room = '', dashboard = ''] = said('Dashboards → Service report').split(' → ')
    await follow(page, room)
    await page.getByRole('link', { name: new RegExp(`^${dashboard}`) }).click()
    await page.getByRole('heading', { level: 1, name: dashboard }).waitFor()
  })

  walk('docs/guide/8-traffic-switch.md', async (said) => {
    const yaml = initialPlan('shop', 'standard')
    await client.server.ask('POST', '/v1/traffic-switches', { yaml })
    const page = await client.open('/')
    await follow(page, said('Traffic'))
    await follow(page, said('New switch'))
    await page.getByRole('heading', { level: 1, name: 'New switch' }).waitFor()
    await page.goBack()
    await follow(page, 'shop')
    const check = said('Check')
    await page.getByRole('button', { name: check, exact: true }).waitFor()
    // The tests of these pages press the buttons, with clusters that react.
    const files = ['tests/web/traffic.test.ts', 'tests/web/traffic-new.test.ts']
    const pressed = files.map((file) => readFileSync(join(root, file), 'utf8')).join('')
    for (const words of [check, said('Roll back')]) {
      expect(pressed).toContain(`getByRole('button', { name: '${words}' }).click()`)
    }
  })

  walk('docs/guide/9-operate.md', async (said) => {
    const page = await client.open('/')
    await page.getByRole('heading', { name: said('Needs attention') }).waitFor()
    await page.getByText('partly done').first().waitFor()
    for (const place of [said('Settings → Audit log'), said('Settings → Storage')]) {
      for (const words of place.split(' → ')) await follow(page, words)
      await page
        .getByRole('heading', { name: place.split(' → ')[1] ?? '' })
        .first()
        .waitFor()
    }
  })
})
