import { beforeAll, beforeEach, expect, it } from 'vitest'
import { describeEachWithTables } from '../../../tests/support/databases.ts'
import { github } from '../../plugins/github/plugin.ts'
import { prepareDatabase } from '../../start/prepare-database.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { prepareSourceTask } from './source-task.ts'

const source = github.source as PluginSpec
const written = { created_at: new Date(), updated_at: new Date() }

describeEachWithTables('the scope that a task names', (test) => {
  const lines: string[] = []
  const prepare = (options: TaskRun['options']) =>
    prepareSourceTask(source, {
      database: test.database,
      options: { connectionId: 1, ...options },
      fullSync: false,
      signal: new AbortController().signal,
      progress: () => {},
      log: (line) => lines.push(line),
    })
  const store = (table: string, row: Record<string, unknown>) =>
    test.database.kysely
      .insertInto(table)
      .values({ ...row, ...written })
      .execute()

  beforeAll(() => prepareDatabase(test.database))
  beforeEach(async () => {
    lines.length = 0
    for (const table of ['_tool_github_repos', '_tool_github_scope_configs']) {
      await test.database.kysely.deleteFrom(table).execute()
    }
    const config = { id: 7, connection_id: 1, name: 'rules', production_pattern: 'prod' }
    await store('_tool_github_scope_configs', config)
    await store('_tool_github_repos', { connection_id: 1, github_id: 5, full_name: 'acme/new', scope_config_id: 7 })
  })

  it('is found by its id when it is called otherwise now, with its rules', async () => {
    const task = await prepare({ githubId: 5, name: 'acme/old', fullName: 'acme/old' })
    expect(task.context.scope).toMatchObject({ github_id: 5, full_name: 'acme/new' })
    expect(task.settings).toMatchObject({ productionPattern: 'prod' })
    expect(task.params).toBe('{"ConnectionId":1,"Name":"acme/new"}')
    expect(lines).toEqual(['The task names its scope acme/old; it is acme/new now.'])
    expect((await prepare({ githubId: '5', fullName: 'acme/new' })).context.scope.full_name).toBe('acme/new')
    expect(lines).toHaveLength(1)
  })

  it('is found by its name alone', async () => {
    expect((await prepare({ fullName: 'acme/new' })).context.scope.github_id).toBe(5)
    expect((await prepare({ githubId: 0, name: 'acme/new', fullName: '' })).context.scope.github_id).toBe(5)
  })

  it.each([
    [{ fullName: 'acme/old' }, 'connection 1 has no scope with fullName "acme/old"'],
    [{ githubId: 6, fullName: 'acme/new' }, 'connection 1 has no scope with githubId 6 and fullName "acme/new"'],
    [{ githubId: 'five' }, 'the option githubId names no scope'],
    [{}, 'name the scope by githubId or name or fullName'],
  ])('is refused when it is none of the connection: %j', async (options, message) => {
    await expect(prepare(options)).rejects.toThrow(message)
  })

  it('may be unknown where the connection has none, as in a plan that someone wrote', async () => {
    const { context } = await prepare({ connectionId: 2, githubId: 9, fullName: 'acme/free' })
    expect(context.scope).toMatchObject({ connection_id: 2, github_id: 9, full_name: 'acme/free', scope_config_id: 0 })
  })

  it('goes by what forms suggest where a stored connection has no scope config for it, and by an empty one if it has', async () => {
    await store('_tool_github_connections', { id: 1, name: 'main' })
    try {
      const bare = { connection_id: 1, github_id: 6, full_name: 'acme/bare', scope_config_id: 0 }
      await store('_tool_github_repos', bare)
      const suggested = source.scopeConfig.fields.envNamePattern?.suggestion
      expect((await prepare({ githubId: 6 })).settings).toMatchObject({ envNamePattern: suggested })
      expect((await prepare({ githubId: 6 })).context.scopeConfig.isProduction('production')).toBe(true)
      expect((await prepare({ githubId: 6, scopeConfig: {} })).context.scopeConfig.isProduction('production')).toBe(
        false,
      )
      expect((await prepare({ githubId: 5 })).context.scopeConfig.isProduction('production')).toBe(false)
    } finally {
      await test.database.kysely.deleteFrom('_tool_github_connections').execute()
    }
    const unknown = await prepare({ connectionId: 2, githubId: 9, fullName: 'acme/free' })
    expect(unknown.settings).toEqual({})
  })

  it('is refused with a scope config that does not exist', async () => {
    await expect(prepare({ githubId: 5, scopeConfigId: 8 })).rejects.toThrow('there is no scope config 8')
    await test.database.kysely.deleteFrom('_tool_github_scope_configs').execute()
    await expect(prepare({ githubId: 5 })).rejects.toThrow('there is no scope config 7')
    // A task that contains its rules needs no scope config.
    const scopeConfig = { deploymentPattern: 'deploy' }
    expect((await prepare({ githubId: 5, scopeConfig })).settings).toEqual(scopeConfig)
  })
})
