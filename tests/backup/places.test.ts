/** `weir backup --to`: folders and buckets, retention, rehearsal, and places that are full, away or wrong. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { backupName } from '../../src/backup/backup-name.ts'
import { checkBackup } from '../../src/backup/restore.ts'
import { expired } from '../../src/backup/retention.ts'
import { parseS3 } from '../../src/backup/s3/place.ts'
import { writeBackup } from '../../src/backup/write-backup.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { S3_KEYS, startFakeS3 } from '../fake-s3/fake-s3.ts'
import { runCli, startCli } from '../support/cli.ts'
import { describeEachDatabase, describeOneDatabase } from '../support/databases.ts'
import { mayMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { KEY, newFolder } from './support/varied-rows.ts'

const NAME = /^weir-backup-\d{8}T\d{6}Z\.backup$/
const ENOUGH_MS = 240_000
const place = { dataFolder: newFolder(), encryptionSecret: KEY }
const environmentOf = (url: string) => ({ DB_URL: url, DATA_FOLDER: place.dataFolder, ENCRYPTION_SECRET: KEY })
async function prepare(database: Database, encryptionSecret = KEY): Promise<void> {
  await prepareDatabase(database)
  await openSecrets(database, { ...place, encryptionSecret })
}
const DAY_MS = 86_400_000
const NOW = Date.now()
const daysAgo = (days: number, now = NOW) => backupName(new Date(now - days * DAY_MS))

const store = await startFakeS3('backups')
const withStore = (url: string) => ({ ...environmentOf(url), ...store.environment })
afterAll(() => store.stop())
beforeEach(() => {
  store.objects.clear()
  store.uploads.clear()
  store.requests.length = 0
  store.onRequest = () => {}
  store.room = Number.POSITIVE_INFINITY
  store.failures.count = 0
})

describe('retention', () => {
  const now = new Date('2026-03-31T12:00:00.000Z')
  const names = [0, 1, 2, 3, 40].map((days) => daysAgo(days, now.getTime()))

  it('keeps what the number or the days keep, and always the newest', () => {
    expect(expired(names, {}, now)).toEqual([])
    expect(expired(names, { count: 2 }, now)).toEqual(names.slice(2))
    expect(expired(names, { days: 2 }, now)).toEqual(names.slice(3))
    expect(expired(names, { count: 4, days: 1 }, now)).toEqual(names.slice(4))
    expect(expired(names, { count: 1, days: 50 }, now)).toEqual([])
    expect(expired(names.slice(4), { days: 1 }, now)).toEqual([])
  })
})

it('addresses of buckets are told from mistakes', () => {
  expect(parseS3('s3://backups')).toEqual({ bucket: 'backups', path: '' })
  expect(parseS3('s3://backups//a/b/')).toEqual({ bucket: 'backups', path: 'a/b' })
  for (const wrong of ['s3:', 's3://', 's3:/backups', 's3://b', 's3://back_ups/x', 's3://backups/../x']) {
    expect(() => parseS3(wrong), wrong).toThrow(/is not the address of a bucket: write s3:\/\/BUCKET/)
  }
})

describeOneDatabase('backups in a folder', (test) => {
  const environment = () => environmentOf(test.url)
  beforeAll(() => prepare(test.database))

  it('are named after their time, and old ones of the same key go', { timeout: ENOUGH_MS }, async () => {
    const folder = newFolder()
    const old = [1, 2, 3].map((days) => daysAgo(days))
    for (const name of old) await writeBackup(test.database, join(folder, name), { version: '0.1.0' })
    writeFileSync(join(folder, daysAgo(4)), 'not a backup, for all its name')
    writeFileSync(join(folder, 'weir-2020-01-01.backup'), 'made by hand')
    writeFileSync(join(folder, `${daysAgo(5)}.part`), 'left by a command that was killed')
    writeFileSync(join(folder, `${daysAgo(0)}.part`), 'being written')
    utimesSync(join(folder, `${daysAgo(5)}.part`), new Date(0), new Date(0))
    const kept = readdirSync(folder).filter((name) => !old.slice(1).includes(name) && name !== `${daysAgo(5)}.part`)
    const { code, output, errors } = await runCli(['backup', '--to', folder, '--keep', '2'], environment())
    expect([code, errors]).toEqual([0, ''])
    expect(output).toMatch(/Removed 2 old backups: .*\. 3 stay\.\n1 old backup with another encryption key, or that/)
    const now = readdirSync(folder)
    const [made] = now.filter((name) => !kept.includes(name))
    expect(now.toSorted()).toEqual([...kept, made].toSorted())
    expect(made).toMatch(NAME)
    await checkBackup(join(folder, made as string), place)
  })

  it('of another installation stay', { timeout: ENOUGH_MS }, async () => {
    const folder = newFolder()
    const url = await test.createDatabase()
    const other = await openDatabase(url)
    await prepare(other, 'the passphrase of another installation')
    await writeBackup(other, join(folder, daysAgo(9)), { version: '0.1.0' })
    await other.close()
    const { code, output } = await runCli(['backup', '--to', folder, '--keep-days', '1'], environment())
    expect([code, output]).toEqual([0, expect.stringContaining(`stay: ${daysAgo(9).slice(0, 20)}`)])
    expect(readdirSync(folder)).toHaveLength(2)
    // A rehearsal with the key of this installation refuses the backup, which has another key.
    const tried = await runCli(['backup', '--rehearse', join(folder, daysAgo(9))], environment())
    expect(tried).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/another encryption key.*Nothing was changed/),
    })
    const keyFile = join(newFolder(), 'key')
    writeFileSync(keyFile, 'the passphrase of another installation', { mode: 0o600 })
    const withKey = ['backup', '--rehearse', join(folder, daysAgo(9)), '--old-key', keyFile]
    const opened = await runCli([...withKey, '--database', await test.createDatabase()], environment())
    expect(opened).toMatchObject({ code: 0, output: expect.stringContaining('can be restored') })
  })

  it('are refused with one sentence each when they are asked for in a wrong way', { timeout: ENOUGH_MS }, async () => {
    const folder = newFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await writeBackup(test.database, join(folder, daysAgo(1)), { version: '0.1.0' })
    const before = readdirSync(folder)
    const cases: [string[], RegExp][] = [
      [[], /^weir: Name a file, or a place with --to\.\n$/],
      [['x', '--to', folder], /not both/],
      [['x', '--keep', '3'], /need --to/],
      [['--to', folder, '--keep', '0'], /--keep .*must be a number from 1/],
      [['--to', folder, '--keep-days', 'many'], /--keep-days .*must be a number from 1/],
      [['--to', folder, '--force'], /--force is not for --to/],
      [['x', '--database', test.url], /--database is for --rehearse/],
      [['--to', folder, '--rehearse', '--old-key', 'x'], /--old-key is for --rehearse FILE/],
      [['--to', join(folder, 'missing')], /There is no folder .*missing: create it first/],
      [['--to', file], /is not a folder/],
      [['s3://backups/weir'], /Use --to s3:\/\/backups\/weir/],
      [['--to', 's3://backups'], /need keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
      [['--rehearse', folder], /is a folder: name a backup in it; the newest is .*weir-backup-/],
      [['--rehearse', join(folder, 'none')], /does not exist/],
      [['--rehearse', file], /is damaged, or is not a backup|ends in the middle/],
      [['--rehearse', join(folder, daysAgo(1)), '--database', 'lake'], /weir: --database is not an address/],
      [
        ['--rehearse', join(folder, daysAgo(1)), '--database', test.url],
        /is not empty: it has \d+ tables.*Nothing was/,
      ],
    ]
    for (const [parameters, message] of cases) {
      const { code, errors } = await runCli(['backup', ...parameters], environment())
      expect([parameters, code, errors]).toEqual([parameters, 1, expect.stringMatching(message)])
      expect(errors.trim().split('\n')).toHaveLength(1)
    }
    expect(readdirSync(folder)).toEqual(before)
  })
})

/** More than fits into one part or on the small disk, and hardly compressible. */
const MEGABYTES = 22

describeOneDatabase('a large backup', (test) => {
  const environment = () => withStore(test.url)
  beforeAll(async () => {
    await prepare(test.database)
    const raw = rawTable('github_api_pull_requests')
    for (let count = 0; count < MEGABYTES; count++) {
      const row = { params: 'x', url: '', input_key: '', record_key: String(count), data: randomBytes(1024 ** 2) }
      await write(test.database, [raw.row(row)])
    }
  })
  const toStore = ['backup', '--to', 's3://backups/team one/weir']
  const start = 'team one/weir/'

  describe.skipIf(!mayMount())('and a full disk', () => {
    let disk: SmallDisk
    beforeAll(() => {
      disk = mountSmallDisk() as SmallDisk
    })
    beforeEach(() => {
      for (const name of readdirSync(disk.folder)) rmSync(join(disk.folder, name))
    })
    afterAll(() => disk?.release())

    it('is refused, and what is there stays', { timeout: ENOUGH_MS }, async () => {
      const older = daysAgo(1)
      writeFileSync(join(disk.folder, older), 'an older backup')
      for (const parameters of [['--to', disk.folder, '--keep', '1'], [join(disk.folder, 'by-hand.backup')]]) {
        const { code, errors } = await runCli(['backup', ...parameters], environment())
        expect([code, errors]).toEqual([
          1,
          expect.stringMatching(
            /^weir: .*\.backup cannot be written: its disk is full\. Free some space, or choose another place\. Nothing is left of it, and other files are as before\.\n$/,
          ),
        ])
        expect(readdirSync(disk.folder)).toEqual([older])
        expect(readFileSync(join(disk.folder, older), 'utf8')).toBe('an older backup')
      }
    })

    it('cannot be rehearsed there, and the disk is empty again afterwards', { timeout: ENOUGH_MS }, async () => {
      const folder = newFolder()
      const temporary = { ...environment(), TMPDIR: disk.folder }
      const { code, errors } = await runCli(['backup', '--to', folder, '--rehearse'], temporary)
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/^weir: The backup is there, but .* set TMPDIR to .*is full/),
      ])
      expect(readdirSync(disk.folder)).toEqual([])
      expect(readdirSync(folder)).toEqual([expect.stringMatching(NAME)])
    })
  })

  it('goes to a bucket in parts, signed, also when the store fails at times, and comes back whole', {
    timeout: ENOUGH_MS,
  }, async () => {
    let count = 0
    // Every second request meets a failure first, of alternating kinds. No request is given up.
    store.onRequest = (line) => {
      if (store.failures.count > 0 || !/^PUT|^GET.*\.backup/.test(line) || count++ % 2 > 0) return
      store.failures = { count: 1, how: count % 4 === 1 ? 'busy' : 'cut' }
    }
    const { code, output, errors } = await runCli([...toStore, '--keep', '1'], environment())
    expect([code, errors]).toEqual([0, ''])
    const [key = ''] = [...store.objects.keys()]
    expect(output).toContain(`s3://backups/${key}: `)
    expect([store.objects.size, store.uploads.size]).toEqual([1, 0])
    expect(new Set(store.requests.filter((line) => /^PUT.*partNumber/.test(line))).size).toBe(2)
    const url = await test.createDatabase()
    const restored = await runCli(['restore', `s3://backups/${key}`], { ...environment(), DB_URL: url })
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(restored.output).toMatch(/^Restored: [\d,]+ rows of \d+ tables/)
    expect(count).toBeGreaterThan(8)
  })

  it('that does not fit into the bucket leaves nothing there, and old ones stay', { timeout: ENOUGH_MS }, async () => {
    store.objects.set(`${start}${daysAgo(9)}`, Buffer.from('older'))
    store.room = 17 * 1024 ** 2
    const { code, errors } = await runCli([...toStore, '--keep', '1'], environment())
    expect([code, errors]).toEqual([1, expect.stringMatching(/bucket backups .* is full: make room, or keep fewer/)])
    expect([...store.objects.keys()]).toEqual([`${start}${daysAgo(9)}`])
    expect(store.uploads.size).toBe(0)
  })

  it('that is stopped is gone, or whole if it had all it needs', { timeout: ENOUGH_MS }, async () => {
    const cli = startCli(toStore, environment())
    let isFirst = true
    store.onRequest = async (line) => {
      if (!line.startsWith('PUT') || !isFirst) return
      isFirst = false
      cli.kill('SIGTERM')
      await new Promise((done) => setTimeout(done, 500))
    }
    const code = await cli.ended
    if (code !== 0)
      expect(cli.errors()).toBe('weir: The backup was interrupted. Nothing is left of it: run it again.\n')
    expect([code, store.objects.size, store.uploads.size]).toEqual(code === 0 ? [0, 1, 0] : [1, 0, 0])
  })

  it('that was replaced while it is read is refused', { timeout: ENOUGH_MS }, async () => {
    expect((await runCli(toStore, environment())).code).toBe(0)
    const [[key, bytes] = ['', Buffer.of()]] = store.objects
    store.onRequest = (line) => {
      if (line.startsWith('GET')) store.objects.set(key, Buffer.concat([bytes, bytes]))
    }
    const { code, errors } = await runCli(['restore', `s3://backups/${key}`], environment())
    expect([code, errors]).toEqual([1, expect.stringMatching(/was replaced or removed while it was read/)])
  })
})

describeEachDatabase('a bucket and a rehearsal', (test) => {
  const environment = () => withStore(test.url)
  beforeAll(() => prepare(test.database))

  it('a new backup is rehearsed, then old ones and what was left unfinished go', { timeout: ENOUGH_MS }, async () => {
    for (const days of [1, 2, 3, 4]) {
      const file = join(newFolder(), 'old')
      await writeBackup(test.database, file, { version: '0.1.0' })
      store.objects.set(`weir/${daysAgo(days)}`, readFileSync(file))
    }
    store.objects.set('weir/notes.txt', Buffer.from('mine'))
    store.objects.set(`other/${daysAgo(5)}`, Buffer.from('of others'))
    const unfinished = (key: string, days: number) =>
      store.uploads.set(`${key} ${days}`, { key, parts: new Map(), initiated: new Date(NOW - days * DAY_MS) })
    unfinished(`weir/${daysAgo(9)}`, 9)
    unfinished(`weir/${daysAgo(0)}`, 0)
    unfinished('weir/video.mp4', 9)
    const scratch = await test.createDatabase()
    const parameters = ['backup', '--to', 's3://backups/weir/', '--keep', '3', '--rehearse', '--database', scratch]
    const { code, output, errors } = await runCli(parameters, environment())
    expect([code, errors]).toEqual([0, ''])
    expect(output).toMatch(/can be restored: [\d,]+ rows of \d+ tables.*checksums of all tables are equal/)
    expect(output).toMatch(/Removed 2 old backups/)
    const names = [...store.objects.keys()].filter((key) => NAME.test(key.slice('weir/'.length)))
    expect(names).toHaveLength(3)
    expect(names).toEqual(expect.arrayContaining([`weir/${daysAgo(1)}`, `weir/${daysAgo(2)}`]))
    expect(store.objects.size).toBe(5)
    expect([...store.uploads.values()].map(({ key }) => key)).toEqual([`weir/${daysAgo(0)}`, 'weir/video.mp4'])
    const database = await openDatabase(scratch)
    expect((await database.describe()).size).toBe(0)
    await database.close()
  })

  it('a rehearsal that fails keeps every backup, and says why', { timeout: ENOUGH_MS }, async () => {
    store.objects.set(`weir/${daysAgo(9)}`, Buffer.from('older'))
    const parameters = ['backup', '--to', 's3://backups/weir', '--keep', '1', '--rehearse', '--database', test.url]
    const { code, errors } = await runCli(parameters, environment())
    expect([code, errors]).toEqual([1, expect.stringMatching(/is not empty.*Nothing was changed/)])
    expect(store.objects.size).toBe(2)
  })

  it('a rehearsal that was killed is repeated in the same database', { timeout: ENOUGH_MS }, async () => {
    const file = join(newFolder(), 'weir.backup')
    await writeBackup(test.database, file, { version: '0.1.0' })
    const scratch = await test.createDatabase()
    const database = await openDatabase(scratch)
    const cli = startCli(['backup', '--rehearse', file, '--database', scratch], environment())
    while ((await database.describe()).size < 3) await new Promise((done) => setTimeout(done, 20))
    process.kill(cli.pid, 'SIGKILL')
    await cli.ended
    expect((await database.describe()).size).toBeGreaterThan(0)
    const again = await runCli(['backup', '--rehearse', file, '--database', scratch], environment())
    expect([again.code, again.errors]).toEqual([0, ''])
    expect((await database.describe()).size).toBe(0)
    await database.close()
  })

  it('what is wrong with a bucket is said in one sentence', { timeout: ENOUGH_MS }, async () => {
    store.objects.set(`weir/${daysAgo(1)}`, Buffer.from('x'))
    const cases: [string[], Record<string, string>, RegExp][] = [
      [['backup', '--to', 's3://elsewhere/weir'], {}, /There is no bucket elsewhere at http.*create it/],
      [['backup', '--to', 's3://backups/weir'], { AWS_SECRET_ACCESS_KEY: 'wrong' }, /refuses the keys: check AWS_/],
      [['backup', '--to', 's3://backups/weir'], { AWS_ACCESS_KEY_ID: 'wrong' }, /refuses the keys: check AWS_/],
      [['backup', '--to', 's3://backups/weir'], { BACKUP_S3_REGION: 'x-1' }, /set BACKUP_S3_REGION to eu-central-9/],
      [['backup', '--to', 's3://backups/weir'], { BACKUP_S3_ENDPOINT: 'minio' }, /BACKUP_S3_ENDPOINT is wrong/],
      [
        ['restore', 's3://backups/weir'],
        {},
        /holds several backups: name one of them. The newest is s3:\/\/.*weir-backup-/,
      ],
      [['restore', 's3://backups/weir/none'], {}, /There is no s3:\/\/backups\/weir\/none at/],
      [['restore', `s3://backups/weir/${daysAgo(1)}`], {}, /is damaged, or is not a backup|ends in the middle/],
    ]
    for (const [parameters, changed, message] of cases) {
      const { code, errors } = await runCli(parameters, { ...environment(), ...changed })
      expect([parameters, code, errors]).toEqual([parameters, 1, expect.stringMatching(message)])
      expect(errors.trim().split('\n')).toHaveLength(1)
      expect(errors).not.toContain(S3_KEYS.AWS_SECRET_ACCESS_KEY)
    }
  })
})
