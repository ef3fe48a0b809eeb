import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../../tests/support/databases.ts'
import { insertRow } from '../control-plane/store.ts'
import { closeFolders } from '../secrets/private-file.ts'
import { prepareDatabase } from '../start/prepare-database.ts'
import { pipelines } from '../system/pipelines.ts'
import { removeOldLogs } from './log-retention.ts'
import { logFolder } from './task-log.ts'
import { createTaskLog } from './write-log.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 24 * 3_600_000)

describeEachWithTables('logs of pipelines', (test) => {
  let dataFolder: string
  beforeAll(async () => {
    await prepareDatabase(test.database)
    dataFolder = mkdtempSync(join(tmpdir(), 'weir-logs-'))
  })

  /** Makes a log folder with one file for each age in days. */
  function store(folder: string, ...ages: number[]): void {
    mkdirSync(folder, { recursive: true })
    for (const [index, age] of ages.entries()) {
      const file = join(folder, `task-${index}.log`)
      writeFileSync(file, 'a line\n')
      utimesSync(file, daysAgo(age), daysAgo(age))
    }
    utimesSync(folder, daysAgo(Math.max(...ages)), daysAgo(Math.max(...ages)))
  }

  it('are deleted when the last was written long ago, but not of pipelines that continue', async () => {
    const add = (status: string) => insertRow(test.database.kysely, pipelines, { name: status, status })
    const [old, young, rerun, running] = [
      await add('TASK_COMPLETED'),
      await add('TASK_FAILED'),
      await add('TASK_COMPLETED'),
      await add('TASK_RUNNING'),
    ]
    const unknown = 9999
    const folderOf = (id: number) => logFolder(dataFolder, id)
    store(folderOf(old), 91, 200)
    store(folderOf(young), 89)
    store(folderOf(rerun), 200, 3)
    store(folderOf(running), 91)
    store(folderOf(unknown), 91)
    store(join(dataFolder, 'logs', 'notes'), 500)
    expect(await removeOldLogs({ database: test.database, dataFolder }, 90, NOW)).toEqual([old, unknown].sort())
    const left = [old, young, rerun, running, unknown].filter((id) => existsSync(folderOf(id)))
    expect(left).toEqual([young, rerun, running])
    expect(existsSync(join(dataFolder, 'logs', 'notes'))).toBe(true)
    expect(await removeOldLogs({ database: test.database, dataFolder }, 90, NOW)).toEqual([])
  })

  it('need not be there', async () => {
    const nowhere = join(dataFolder, 'nowhere')
    expect(await removeOldLogs({ database: test.database, dataFolder: nowhere }, 90, NOW)).toEqual([])
  })

  it('are for nobody else on the machine to read', () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'weir-logs-')), 'data')
    const file = join(logFolder(folder, 1), 'task.log')
    const log = createTaskLog(file, { pipeline: 1 })
    log('a line')
    log.close()
    const modes = [file, logFolder(folder, 1), join(folder, 'logs')].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o600, 0o700, 0o700])
  })

  it('are closed to others at the next start if an earlier version left them open, and nothing else is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-logs-'))
    const elsewhere = mkdtempSync(join(tmpdir(), 'weir-elsewhere-'))
    const at = (name: string) => join(folder, name)
    for (const name of ['logs', 'notes']) mkdirSync(at(name))
    for (const path of [folder, elsewhere, at('logs'), at('notes')]) chmodSync(path, 0o755)
    symlinkSync(elsewhere, at('git'))
    expect(closeFolders(folder)).toEqual([])
    const modes = [at('logs'), at('notes'), elsewhere, folder].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o700, 0o755, 0o755, 0o755])
  })
})
