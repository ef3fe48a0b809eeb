import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { runCli, startCli } from '../../tests/support/cli.ts'
import { describeOneDatabase } from '../../tests/support/databases.ts'
import type { Database } from '../database/database.ts'
import { newLeaseHolder } from '../database/lease-holder.ts'
import { createLog } from '../log.ts'
import { plugins } from '../plugins/index.ts'
import { joinServers } from '../runner/servers.ts'
import { createControlPlane } from '../start/create-control-plane.ts'
import { prepareDatabase } from '../start/prepare-database.ts'
import { acceptKey, openSecrets } from './encryption-key.ts'
import { requireSameKey, rotateKey } from './rotate-key.ts'
import { CIPHERTEXTS, createSecrets, type Secrets } from './secrets.ts'
import { sealedColumns } from './stored-ciphertexts.ts'

const TOKEN = 'planted-token-of-a-connection'
const PASSWORD = 'planted-password-of-a-clone'
const OLD = 'the old passphrase of this server'
const NEW = 'the new passphrase of this server'
const newFolder = () => mkdtempSync(join(tmpdir(), 'weir-key-'))
const fileIn = (dataFolder: string) => join(dataFolder, 'encryption-key')

describeOneDatabase('the encryption key', (test) => {
  const forget = () => test.database.kysely.deleteFrom('_weir_encryption_keys').execute()
  async function empty(): Promise<void> {
    await forget()
    for (const { table } of sealedColumns) await test.database.kysely.deleteFrom(table.name).execute()
  }
  const open = (dataFolder: string, encryptionSecret?: string) =>
    openSecrets(test.database, { dataFolder, encryptionSecret })
  const control = (secrets: Secrets) =>
    createControlPlane({
      database: test.database,
      plugins,
      secrets,
      dataFolder: newFolder(),
      log: createLog('silent'),
    }).services

  beforeAll(() => prepareDatabase(test.database))
  beforeEach(empty)

  it('is made once, for its owner only, and found again', async () => {
    const folder = newFolder()
    const sealed = (await open(folder)).encrypt('token')
    expect(readdirSync(folder)).toEqual(['encryption-key'])
    chmodSync(fileIn(folder), 0o644)
    expect((await open(folder)).decrypt(sealed)).toBe('token')
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600)
  })

  it('comes from ENCRYPTION_SECRET where that is set, and no file is made', async () => {
    const folder = newFolder()
    expect((await open(folder, OLD)).decrypt(createSecrets(OLD).encrypt('token'))).toBe('token')
    expect(readdirSync(folder)).toEqual([])
  })

  it('is never an empty file', async () => {
    const folder = newFolder()
    writeFileSync(fileIn(folder), '\n')
    await expect(open(folder)).rejects.toThrow('holds no key')
  })

  it('is missed by name in a new data folder, and no other one is made', async () => {
    await open(newFolder())
    const folder = newFolder()
    await expect(open(folder)).rejects.toThrow(/is not here: copy the file encryption-key.*ENCRYPTION_SECRET/)
    expect(readdirSync(folder)).toEqual([])
    await expect(open(folder, NEW)).rejects.toThrow('in ENCRYPTION_SECRET is not the one')
    writeFileSync(fileIn(folder), `${'0'.repeat(64)}\n`)
    await expect(open(folder)).rejects.toThrow(`in ${fileIn(folder)} is not the one`)
  })

  it('of two that start at once on a new database one counts', async () => {
    const folders = [newFolder(), newFolder(), newFolder()]
    const all = await Promise.allSettled(folders.map((folder) => open(folder)))
    expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(folders.filter((folder) => existsSync(fileIn(folder)))).toHaveLength(1)
  })

  it('of a database from before is the one that opens what is stored', async () => {
    const folder = newFolder()
    const { connections } = control(await open(folder))
    const { id } = await connections.create('github', { name: 'before', endpoint: 'http://127.0.0.1:1/', token: TOKEN })
    await forget()
    await expect(open(newFolder())).rejects.toThrow('is not here')
    await expect(open(newFolder(), NEW)).rejects.toThrow('is not the one')
    expect((await control(await open(folder)).connections.reveal('github', id)).token).toBe(TOKEN)
    await connections.remove('github', id)
  })

  it('when it is lost, another is accepted, and what cannot be read is told and can be entered again', async () => {
    const { id } = await control(await open(newFolder())).connections.create('github', {
      name: 'lost',
      endpoint: 'http://127.0.0.1:1/',
      token: TOKEN,
    })
    const folder = newFolder()
    await expect(open(folder)).rejects.toThrow('weir secrets accept-key')
    await acceptKey(test.database, { dataFolder: folder })
    const { connections } = control(await open(folder))
    const [listed] = await connections.list('github')
    expect(listed).toMatchObject({ name: 'lost', token: '', problem: { fields: ['token'] } })
    expect(listed?.problem?.message).toMatch(/^Unreadable: token\. .*enter the secret again/)
    await expect(connections.reveal('github', id)).rejects.toMatchObject({ status: 400 })
    await expect(connections.update('github', id, { name: 'renamed' })).rejects.toMatchObject({ status: 400 })
    expect(await connections.update('github', id, { token: 'another' })).not.toHaveProperty('problem')
    expect((await connections.reveal('github', id)).token).toBe('another')
    await connections.remove('github', id)
  })

  async function fill(secrets: Secrets) {
    const services = control(secrets)
    const connection = await services.connections.create('github', {
      name: 'rotated',
      endpoint: 'http://127.0.0.1:1/',
      token: TOKEN,
      proxy: `http://user:${PASSWORD}@127.0.0.1:2`,
    })
    const url = `https://git:${PASSWORD}@127.0.0.1/x.git`
    const plan = [[{ plugin: 'gitextractor', subtasks: [], options: { url, repoId: 'x' } }]]
    const long = [[{ plugin: 'dora', subtasks: [], options: { projectName: 'x', note: 'long '.repeat(5000) } }]]
    const blueprint = await services.blueprints.create({
      name: 'rotated',
      mode: 'ADVANCED',
      isManual: true,
      plan,
      beforePlan: long,
    })
    const pipeline = await services.blueprints.trigger(blueprint.id)
    await services.pipelines.cancel(pipeline.id)
    return { connection, blueprint, pipeline }
  }

  async function requireWhole(secrets: Secrets, { connection, blueprint, pipeline }: Awaited<ReturnType<typeof fill>>) {
    const services = control(secrets)
    expect((await services.connections.reveal('github', connection.id)).token).toBe(TOKEN)
    expect((await services.connections.reveal('github', connection.id)).proxy).toContain(PASSWORD)
    const read = await services.blueprints.get(blueprint.id)
    expect(read).not.toHaveProperty('problem')
    expect(read.beforePlan).toEqual(blueprint.beforePlan)
    expect(await services.pipelines.tasks(pipeline.id)).toMatchObject([{ options: { repoId: 'x' } }])
    await services.blueprints.remove(blueprint.id)
    await services.connections.remove('github', connection.id)
  }

  /** Decrypts every text in every table of settings or runs, whatever the definition of its column says. Leaves out texts of another key. */
  async function storedWith({ decrypt }: Secrets): Promise<string[]> {
    const found: string[] = []
    for (const [table, { columns }] of await test.database.describe()) {
      if (!/^_devlake_|^_weir_|_connections$|_scope_configs$/.test(table)) continue
      for (const [column, { type }] of columns) {
        if (!['string', 'text', 'bytes'].includes(type)) continue
        const { rows } = await sql<{ value: unknown }>`select ${sql.ref(column)} as value from ${sql.table(table)}
          where ${sql.ref(column)} is not null`.execute(test.database.kysely)
        for (const { value } of rows) {
          if (!CIPHERTEXTS.some((prefix) => String(value).startsWith(prefix))) continue
          try {
            decrypt(String(value))
            found.push(`${table}.${column}`)
          } catch {
            // The value was encrypted with another key.
          }
        }
      }
    }
    return found
  }

  it('is replaced by a new one in the data folder, which everything is then encrypted with', async () => {
    const place = { dataFolder: newFolder() }
    const old = await open(place.dataFolder)
    const filled = await fill(old)
    const before = await storedWith(old)
    expect([...new Set(before)].toSorted()).toEqual([
      '_devlake_tasks.options',
      '_tool_github_connections.proxy',
      '_tool_github_connections.token',
      '_weir_plans.content',
    ])
    const digest = old.digest('an API key')
    expect(await rotateKey(test.database, place)).toMatchObject({ encrypted: before.length, unreadable: 0 })
    expect(readdirSync(place.dataFolder).toSorted()).toEqual(['encryption-key', 'encryption-key.old'])
    const next = await open(place.dataFolder)
    expect(next.key).not.toBe(old.key)
    expect(await storedWith(old)).toEqual([])
    expect(next.digest('an API key')).toBe(digest)
    expect(next.derive('session cookies')).not.toBe(old.derive('session cookies'))
    await rotateKey(test.database, place)
    const last = await open(place.dataFolder)
    expect(last.digest('an API key')).toBe(digest)
    await requireWhole(last, filled)
  })

  /** Fails like a database whose client is killed, at the nth transaction. */
  function dyingAt(database: Database, last: number): Database {
    let count = 0
    const transaction: Database['transaction'] = (body) => {
      if (++count === last) throw new Error('killed')
      return database.transaction(body)
    }
    return { ...database, transaction }
  }

  it('cut off in the middle, a rotation keeps servers from starting and is ended by the next', async () => {
    const place = { dataFolder: newFolder(), encryptionSecret: OLD }
    const old = await open(place.dataFolder, OLD)
    const filled = await fill(old)
    await expect(rotateKey(dyingAt(test.database, 3), place, NEW)).rejects.toThrow('killed')
    expect((await storedWith(old)).length).toBeGreaterThan(0)
    for (const key of [OLD, NEW])
      await expect(open(place.dataFolder, key)).rejects.toThrow('run `npx weir secrets rotate`')
    await expect(requireSameKey(test.database, old)).rejects.toThrow('start again')
    await expect(rotateKey(test.database, place)).rejects.toThrow('NEW_ENCRYPTION_SECRET')
    await expect(rotateKey(test.database, place, 'a third passphrase for this')).rejects.toThrow(
      'was started and not finished',
    )
    await rotateKey(test.database, place, NEW)
    expect(await storedWith(old)).toEqual([])
    await expect(open(place.dataFolder, OLD)).rejects.toThrow('is not the one')
    await requireWhole(await open(place.dataFolder, NEW), filled)
  })

  it('killed before the new file has its name, the next start gives it', async () => {
    const place = { dataFolder: newFolder() }
    const old = await open(place.dataFolder)
    await rotateKey(test.database, place)
    const next = readFileSync(fileIn(place.dataFolder), 'utf8')
    rmSync(`${fileIn(place.dataFolder)}.old`)
    writeFileSync(`${fileIn(place.dataFolder)}.next`, next)
    writeFileSync(fileIn(place.dataFolder), old.key)
    expect((await open(place.dataFolder)).key).toBe(next.trim())
    expect(readdirSync(place.dataFolder).toSorted()).toEqual(['encryption-key', 'encryption-key.old'])
  })

  it('stays as it is while a server runs', async () => {
    const place = { dataFolder: newFolder() }
    const { key } = await open(place.dataFolder)
    const membership = await joinServers(test.database, newLeaseHolder(), 15_000)
    const beating = setInterval(() => void membership.beat(), 100)
    await expect(rotateKey(test.database, place)).rejects.toThrow('Running servers of this database: 1.')
    clearInterval(beating)
    await membership.leave()
    expect((await open(place.dataFolder)).key).toBe(key)
    await rotateKey(test.database, place)
  })

  it('a column that holds ciphertext says so', () => {
    const names = sealedColumns.map(({ table, column }) => `${table.name}.${column}`)
    expect(names).toEqual(expect.arrayContaining(['_devlake_tasks.options', '_weir_plans.content']))
  })

  it('a wrong one keeps the server from starting, and doctor says so', async () => {
    const environment = { DB_URL: test.url, PORT: '0', LOGGING_LEVEL: 'warn', AUTH: 'token', ENCRYPTION_SECRET: OLD }
    // This folder does not exist yet.
    const DATA_FOLDER = join(newFolder(), 'new')
    const server = startCli(['up'], { ...environment, DATA_FOLDER })
    await server.saw(/ready at[\s\S]*with the token in/)
    server.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const wrong = { ...environment, DATA_FOLDER, ENCRYPTION_SECRET: NEW }
    const [refused, doctor] = await Promise.all([runCli(['up'], wrong), runCli(['doctor', '--json'], wrong)])
    expect([refused.code, refused.output]).toEqual([1, expect.not.stringContaining('ready')])
    expect(refused.errors).toMatch(/^weir: The encryption key in ENCRYPTION_SECRET is not the one/)
    expect(doctor.code).toBe(1)
    const { findings } = JSON.parse(doctor.output)
    expect(findings).toContainEqual({
      check: 'encryption key',
      state: 'bad',
      message: expect.stringContaining('is not the one'),
    })
    expect(findings).toContainEqual(expect.objectContaining({ check: 'database', state: 'good' }))
    expect(findings.map(({ check }: { check: string }) => check)).toContain('disk')
  })
})
