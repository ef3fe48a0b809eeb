/** Rows with values that are easily changed on the way, and the rows that belong to them. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { RestorePlace } from '../../../src/backup/restore.ts'
import type { Database } from '../../../src/database/database.ts'
import { write } from '../../../src/database/write.ts'
import { cicdPipelines } from '../../../src/domain/devops.ts'
import { createLog } from '../../../src/log.ts'
import { rawTable } from '../../../src/plugin-kit/raw/raw-table.ts'
import { createField } from '../../../src/plugins/customize/fields.ts'
import { plugins } from '../../../src/plugins/index.ts'
import { openSecrets } from '../../../src/secrets/encryption-key.ts'
import type { Secrets } from '../../../src/secrets/secrets.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../../src/start/prepare-database.ts'
import { store } from '../../../src/system/state.ts'

export const KEY = 'the passphrase of this installation'
export const TOKEN = 'planted-token-of-a-connection'

export const newFolder = () => mkdtempSync(join(tmpdir(), 'weir-backup-'))
export const place = (encryptionSecret = KEY): RestorePlace => ({ dataFolder: newFolder(), encryptionSecret })

export const control = (database: Database, secrets: Secrets) =>
  createControlPlane({ database, plugins, secrets, dataFolder: newFolder(), log: createLog('silent') }).services

export async function fill(database: Database): Promise<void> {
  await prepareDatabase(database)
  const services = control(database, await openSecrets(database, place()))
  await services.connections.create('github', { name: 'main', endpoint: 'http://127.0.0.1:1/', token: TOKEN })
  await services.projects.create({ name: 'shop', description: 'Größe 🐟' })
  await createField(database, 'cicd_pipelines', { columnName: 'x_risk', displayName: 'Risk', dataType: 'bigint' })
  await createField(database, 'cicd_pipelines', { columnName: 'x_note', displayName: 'Note', dataType: 'varchar(255)' })
  const row = { name: "it's \\ a name", created_date: new Date('2026-01-02T03:04:05.678Z'), duration_sec: 0.1 + 0.2 }
  await write(database, [
    ...['b', 'B', 'a', 'ä', 'Z', '_'].map((id) => cicdPipelines.row({ id, ...row })),
    cicdPipelines.row({ id: 'zero', created_date: new Date('0001-01-01T00:00:00.000Z') }),
    store.row({ store_key: 'order', store_value: { zz: 1, a: [1.5, null, { y: '\u2028', b: false }], 10: '"' } }),
    store.row({ store_key: 'null', store_value: null }),
  ])
  await sql`update ${sql.table(store.name)} set store_value = ${'{"big": 12345678901234567890, "a": 1.0}'}
    where store_key = 'null'`.execute(database.kysely)
  await sql`update cicd_pipelines set x_risk = ${'9007199254740993'}, x_note = ${' spaces '} where id = 'a'`.execute(
    database.kysely,
  )
  const raw = rawTable('github_api_pull_requests')
  const params = '{"ConnectionId":1,"Name":"a/b"}'
  await write(database, [
    raw.row({ params, data: Buffer.from('{"id":1,"title":"Fix"}'), url: '', record_key: '1', input_key: '' }),
    raw.row({ params, data: Buffer.from([0, 255, 254, 10, 13]), url: '', record_key: '2', input_key: '' }),
  ])
  // The newest row is deleted, and its number is not used again.
  await sql`delete from ${sql.table(raw.name)} where record_key = '2'`.execute(database.kysely)
  await write(database, [raw.row({ params, data: Buffer.from([0, 255]), url: '', record_key: '3', input_key: '' })])
  await sql`delete from ${sql.table(raw.name)} where record_key = '3'`.execute(database.kysely)
  await write(database, [raw.row({ params, data: Buffer.from([200, 10]), url: '', record_key: '0', input_key: '' })])
}
