/** `weir secrets rotate` killed at any moment: secrets open with one key, or servers are refused until it is repeated. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { plugins } from '../../src/plugins/index.ts'
import { type KeyPlace, openSecrets, opens } from '../../src/secrets/encryption-key.ts'
import { rotateKey } from '../../src/secrets/rotate-key.ts'
import type { Secrets } from '../../src/secrets/secrets.ts'
import { ciphertextsOf, sealedColumns } from '../../src/secrets/stored-ciphertexts.ts'
import { createControlPlane } from '../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { chooseSteps, countSteps, killAt } from '../support/killed-cli.ts'

const CONNECTIONS = 12
const KILLS = 3
const ENOUGH_MS = 900_000
const KEYS = ['the first passphrase of this server', 'the second passphrase of this server'] as const
const ROTATE = ['secrets', 'rotate']

describeEachDatabase('a rotation that is killed', (test) => {
  const place = { dataFolder: mkdtempSync(join(tmpdir(), 'weir-rotated-')) }
  const control = (secrets: Secrets) =>
    createControlPlane({ database: test.database, plugins, secrets, ...place, log: createLog('silent') }).services
  let stored: number

  /** Returns the number of ciphertexts, all of which must open with this key. */
  async function requireReadable(key: KeyPlace): Promise<number> {
    const secrets = await openSecrets(test.database, key)
    let count = 0
    for (const sealed of sealedColumns) {
      for await (const { ciphertext } of ciphertextsOf(test.database, sealed)) {
        expect(opens(secrets, ciphertext), sealed.column).toBe(true)
        count++
      }
    }
    const { connections } = control(secrets)
    for (const { id, name } of await connections.list('github')) {
      expect((await connections.reveal('github', Number(id))).token).toBe(`token of ${name}`)
    }
    return count
  }

  beforeAll(async () => {
    await prepareDatabase(test.database)
    const services = control(await openSecrets(test.database, place))
    for (let number = 0; number < CONNECTIONS; number++) {
      const name = `connection ${number}`
      await services.connections.create('github', { name, endpoint: 'http://127.0.0.1:1/', token: `token of ${name}` })
    }
    const options = { projectName: 'x', note: 'long '.repeat(5000) }
    const plan = [[{ plugin: 'dora', subtasks: [], options }]]
    await services.blueprints.create({ name: 'planned', mode: 'ADVANCED', isManual: true, plan })
    stored = await requireReadable(place)
    expect(stored).toBeGreaterThan(CONNECTIONS)
  })

  it('of a key in the data folder, is ended by the next command, or by the next start', {
    timeout: ENOUGH_MS,
  }, async () => {
    const environment = { DB_URL: test.url, DATA_FOLDER: place.dataFolder }
    const steps = await countSteps(ROTATE, environment)
    for (const step of chooseSteps(steps, KILLS)) {
      await killAt(step, ROTATE, environment)
      const { next_fingerprint: next } = await test.database.kysely
        .selectFrom('_weir_encryption_keys')
        .select('next_fingerprint')
        .executeTakeFirstOrThrow()
      if (next === '') expect(await requireReadable(place)).toBe(stored)
      else await expect(openSecrets(test.database, place)).rejects.toThrow('`npx weir secrets rotate` again')
    }
    const { code, errors } = await runCli(ROTATE, environment)
    expect([code, errors]).toEqual([0, ''])
    expect(await requireReadable(place)).toBe(stored)
  })

  it('of a key in ENCRYPTION_SECRET, is ended by the same command, also when only its end was not seen', {
    timeout: ENOUGH_MS,
  }, async () => {
    await rotateKey(test.database, place, KEYS[0])
    const environmentOf = (old: string, next: string) => ({
      DB_URL: test.url,
      DATA_FOLDER: place.dataFolder,
      ENCRYPTION_SECRET: old,
      NEW_ENCRYPTION_SECRET: next,
    })
    let [old, next]: readonly [string, string] = KEYS
    const steps = await countSteps(ROTATE, environmentOf(old, next))
    for (const step of [...chooseSteps(steps, KILLS), steps]) {
      ;[old, next] = [next, old]
      await killAt(step, ROTATE, environmentOf(old, next))
      const { code, errors } = await runCli(ROTATE, environmentOf(old, next))
      expect([code, errors]).toEqual([0, ''])
      expect(await requireReadable({ ...place, encryptionSecret: next })).toBe(stored)
    }
  })
})
