/** From an empty database to measured deliveries: over HTTP alone, and from one file. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { anyTable } from '../support/any-table.ts'
import { runCli } from '../support/cli.ts'
import { describeOneDatabase, type TestDatabase } from '../support/databases.ts'
import { newDataFolder, startLiveServer } from './support/live-server.ts'

const SECRET_KEY = 'an encryption secret that is planted'

const world = {
  repositories: [
    { name: 'acme/web', issues: 6, pullRequests: 6, workflowRuns: 5, commits: 6, deployments: 3, releases: 2 },
    {
      name: 'acme/old',
      archived: true,
      issues: 1,
      pullRequests: 1,
      workflowRuns: 1,
      commits: 1,
      deployments: 0,
      releases: 0,
    },
  ],
}

/** Counts the rows that a run of the project has left in the domain layer. */
async function domainRows(url: string): Promise<Record<string, number>> {
  const database = await openDatabase(url)
  try {
    const counts: Record<string, number> = {}
    for (const table of ['repos', 'issues', 'pull_requests', 'cicd_pipelines', 'cicd_deployments', 'project_mapping']) {
      const { count } = await anyTable(database.kysely)
        .selectFrom(table)
        .select((builder) => builder.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      counts[table] = Number(count)
    }
    return counts
  } finally {
    await database.close()
  }
}

/** Returns all rows of all tables as one text. */
async function dump(url: string): Promise<string> {
  const database = await openDatabase(url)
  try {
    const rows: unknown[] = []
    for (const table of (await database.describe()).keys()) {
      rows.push(await anyTable(database.kysely).selectFrom(table).selectAll().execute())
    }
    return JSON.stringify(rows, (_key, value) => {
      const isBytes = value?.type === 'Buffer' && Array.isArray(value.data)
      return isBytes ? Buffer.from(value.data).toString() : typeof value === 'bigint' ? String(value) : value
    })
  } finally {
    await database.close()
  }
}

const filesIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'encryption-key')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

async function overHttp(test: TestDatabase, github: FakeGithub, databaseUrl: string): Promise<void> {
  const server = await startLiveServer(databaseUrl, { ENCRYPTION_SECRET: SECRET_KEY, LOGGING_LEVEL: 'debug' })
  const answers: string[] = []
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await server.ask(method, path, body)
    answers.push(answer.text)
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  try {
    const settings = {
      endpoint: `${github.url}/`,
      authMethod: 'AccessToken',
      token: DEFAULT_TOKEN,
      enableGraphql: false,
    }
    expect(await ask('POST', '/plugins/github/test', settings)).toMatchObject({ success: true })
    const { id } = await ask('POST', '/plugins/github/connections', { name: 'main', ...settings })
    const at = `/plugins/github/connections/${id}`
    expect(await ask('POST', `${at}/test`)).toMatchObject({ success: true })
    const groups = (await ask('GET', `${at}/remote-scopes`)).children
    expect(groups.map((group: any) => group.id)).toContain('acme')
    const offered = (await ask('GET', `${at}/remote-scopes?groupId=acme`)).children
    const web = offered.find(({ fullName }: any) => fullName === 'acme/web')
    const config = await ask('POST', `${at}/scope-configs`, {
      name: 'rules',
      // Git history needs a server to clone from, which another test covers.
      entities: ['TICKET', 'CODEREVIEW', 'CROSS', 'CICD'],
      deploymentPattern: 'deploy',
      envNamePattern: '(?i)prod(.*)',
    })
    const [scope] = await ask('PUT', `${at}/scopes`, { data: [{ ...web.data, scopeConfigId: config.id }] })
    const metrics = [{ pluginName: 'dora', pluginOption: '', enable: true }]
    const { blueprint } = await ask('POST', '/projects', { name: 'shop', description: '', metrics })
    const connections = [{ pluginName: 'github', connectionId: id, scopes: [{ scopeId: String(scope.githubId) }] }]
    await ask('PATCH', `/blueprints/${blueprint.id}`, { ...blueprint, connections, timeAfter: '2020-01-01T00:00:00Z' })
    const run = await ask('POST', `/blueprints/${blueprint.id}/trigger`, {})

    const stream = await fetch(`${server.url}/v1/pipelines/${run.id}/events`)
    const text = await stream.text()
    answers.push(text)
    const events = [...text.matchAll(/^data: (\{"pipeline.*)$/gm)].map(([, event = '']) => JSON.parse(event))
    expect(events.length).toBeGreaterThan(1)
    expect(text).toContain('event: end')
    const { tasks } = await ask('GET', `/pipelines/${run.id}/tasks`)
    const failed = tasks.filter(({ status }: any) => status !== 'TASK_COMPLETED')
    expect(failed.map(({ plugin, failedSubTask, message }: any) => [plugin, failedSubTask, message])).toEqual([])
    expect(await ask('GET', `/pipelines/${run.id}`)).toMatchObject({ status: 'TASK_COMPLETED' })
    expect((await ask('GET', `/pipelines/${run.id}/subtasks`)).completionRate).toBe(1)
    expect((await ask('GET', '/projects')).projects[0].lastPipeline.status).toBe('TASK_COMPLETED')
    const rows = await domainRows(databaseUrl)
    expect(rows).toMatchObject({ repos: 1, issues: 6, pull_requests: 6, cicd_pipelines: 5 })
    expect(rows.project_mapping).toBeGreaterThan(0)
    expect((await ask('GET', `${at}/scopes/${scope.githubId}/latest-sync-state`)).length).toBeGreaterThan(0)
    for (const path of ['/projects', '/blueprints', '/pipelines', '/v1/audit', '/plugins/github/connections']) {
      await ask('GET', path)
    }
    for (const { id: task } of tasks) answers.push((await server.ask('GET', `/v1/tasks/${task}/log`)).text)
    expect((await server.ask('GET', `/pipelines/${run.id}/logging.tar.gz`)).status).toBe(200)
  } finally {
    await server.stop()
  }
  const places = {
    database: await dump(databaseUrl),
    output: server.output(),
    files: filesIn(server.dataFolder),
    answers: answers.join('\n'),
  }
  for (const [place, content] of Object.entries(places)) {
    for (const secret of [DEFAULT_TOKEN, SECRET_KEY]) {
      expect(content.includes(secret), `a secret is in the ${place} of ${test.engine}`).toBe(false)
    }
  }
  expect(github.violations).toEqual([])
}

async function fromOneFile(github: FakeGithub, databaseUrl: string): Promise<void> {
  const dataFolder = newDataFolder()
  const file = join(dataFolder, 'weir.yaml')
  writeFileSync(
    file,
    `connections:
  github:
    main:
      endpoint: ${github.url}/
      token: { env: FAKE_TOKEN }
      enableGraphql: false
      scopeConfigs:
        rules: { entities: [TICKET, CODEREVIEW, CROSS, CICD], deploymentPattern: deploy, envNamePattern: (?i)prod(.*) }
projects:
  shop:
    schedule: manual
    timeAfter: 2020-01-01
    collect:
      - { connection: github/main, scopes: [acme/*], scopeConfig: rules }
`,
  )
  const environment = { DB_URL: databaseUrl, DATA_FOLDER: dataFolder, FAKE_TOKEN: DEFAULT_TOKEN }
  const run = async (...parameters: string[]) => {
    const result = await runCli(parameters, environment)
    expect(result.output + result.errors).not.toContain(DEFAULT_TOKEN)
    return result
  }
  const planned = await run('config', 'plan', file, '--json')
  expect(planned.errors).toBe('')
  const { changes } = JSON.parse(planned.output)
  const subjects = changes.map(({ action, subject }: any) => `${action} ${subject}`)
  expect(subjects).toEqual([
    'create github connection main',
    'create github scope config rules',
    'create project shop',
    'create github scope acme/web',
    'update schedule of shop',
  ])
  const checked = await run('config', 'plan', file, '--check')
  expect(checked.code).toBe(2)
  expect(checked.output).toContain('    selectors:\n      + github/main: acme/*, scope config rules\n')
  expect((await run('config', 'apply', file)).output).toContain('5 changes made.')
  expect((await run('config', 'apply', file)).output).toBe('Nothing to change.\n')
  const exported = await run('config', 'export')
  expect(exported.output).toContain('env: FAKE_TOKEN')
  expect(exported.output).toContain('acme/*')
  // `-` means standard output, and no file of that name is written.
  expect((await run('config', 'export', '-')).output).toBe(exported.output)
  expect(existsSync('-')).toBe(false)
  const nowhere = join(dirname(file), 'no', 'weir.yaml')
  expect((await run('config', 'export', nowhere)).errors).toContain(
    `There is no folder ${dirname(nowhere)}: create it first`,
  )

  const collected = await run('collect', 'shop')
  expect(collected, collected.output + collected.errors).toMatchObject({ code: 0 })
  expect(collected.output).toMatch(/Run \d+: completed/)
  // One line for each task that begins or ends, and none for its progress.
  const lines = collected.output.split('\n').filter((line) => /^\d+\/\d+ tasks ended/.test(line))
  const tasks = Number(/\/(\d+) tasks ended/.exec(collected.output)?.[1])
  expect(lines.length).toBeGreaterThanOrEqual(tasks)
  expect(lines.length).toBeLessThanOrEqual(2 * tasks)
  expect(collected.output).toMatch(new RegExp(`^${tasks}/${tasks} tasks ended: \\w+ .*completed$`, 'm'))
  expect(await domainRows(databaseUrl)).toMatchObject({ repos: 1, issues: 6, pull_requests: 6 })
  const examined = JSON.parse((await run('doctor', '--json')).output)
  expect(examined.findings.map(({ check, state }: any) => `${check}: ${state}`)).toEqual([
    'encryption key: good',
    'github connection main: good',
    'schedule of shop-Blueprint: good',
    // None of its six issues is an incident by the default rules.
    'attention: warning',
    'database: good',
    'clock: good',
    'disk: good',
    // No server follows the schedule.
    'runner: warning',
  ])
}

// One engine is enough: tests of the routes, of the commands and of planted secrets use both.
describeOneDatabase('from an empty start, over HTTP', (test) => {
  it('over HTTP alone, leaving no secret anywhere', async () => {
    const github = await startFakeGithub({ world })
    try {
      await overHttp(test, github, await test.createDatabase())
    } finally {
      await github.stop()
    }
  })
})

describeOneDatabase('from an empty start, with one file', (test) => {
  it('from one YAML file', async () => {
    const github = await startFakeGithub({ world })
    try {
      await fromOneFile(github, await test.createDatabase())
    } finally {
      await github.stop()
    }
  })
})
