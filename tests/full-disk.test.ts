import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog, logDestination } from '../src/log.ts'
import { createTaskLog } from '../src/runner/write-log.ts'
import { followWork } from '../src/telemetry/events/work-events.ts'
import { until } from './pipelines/support/test-control.ts'
import { runCli } from './support/cli.ts'
import { fillDisk, mayMount, mountSmallDisk, type SmallDisk } from './support/small-disk.ts'

describe.skipIf(!mayMount())('a full disk', () => {
  let small: SmallDisk
  let disk: string
  beforeAll(() => {
    small = mountSmallDisk() as SmallDisk
    disk = small.folder
  })
  // The log of the server stays open as long as the process lives.
  afterAll(() => small?.release())

  it('is said at the start: one line, code 1, nothing half made', async () => {
    const { code, errors } = await runCli(['up'], { DATA_FOLDER: join(disk, 'weir'), PORT: '0' })
    expect(errors).toBe(
      `weir: The disk that holds ${join(disk, 'weir')} is full: free some space (a new database takes 50 MB), or set DATA_FOLDER to another disk.\n`,
    )
    expect(code).toBe(1)
    expect(readdirSync(join(disk, 'weir'))).toEqual([])
  })

  it('costs lines of the log of a run, which says how many', async () => {
    const path = join(disk, 'logs', 'task.log')
    const told: { line: string; isWarning: boolean }[] = []
    const forget = followWork((event) => {
      if (event.kind === 'line') told.push({ line: event.line, isWarning: event.isWarning === true })
    })
    const log = createTaskLog(path, { pipeline: 7 })
    log('before')
    const free = fillDisk(disk)
    // A page that the file already has takes some more text, which ends within a line.
    for (let number = 0; number < 200; number++) log(`line ${number} ${'x'.repeat(100)}`)
    free()
    await until(async () => {
      log('after')
      return readFileSync(path, 'utf8').includes('Z after\n')
    })
    log.close()
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines[0]).toMatch(/Z before$/)
    const at = lines.findIndex((line) => line.includes(' missing here: '))
    const written = lines.filter((line) => / line \d+ x{100}$/.test(line)).length
    const after = lines.length - at - 1
    const missing = Number(/Z (\d+) lines are missing here: the log could not be written\.$/.exec(lines[at] ?? '')?.[1])
    await until(async () => told.filter(({ isWarning }) => !isWarning).length === 1 + written + missing + after)
    expect(missing).toBeGreaterThanOrEqual(200 - written)
    // Each line is in the file once, or is counted as missing. The server's own log has all lines and one warning.
    expect(told.filter(({ isWarning }) => isWarning)).toEqual([
      { isWarning: true, line: expect.stringContaining(`cannot be written to ${path}`) },
    ])
    forget()
  })

  it('costs no line of the log of the server as long as memory holds them, and never ends it', () => {
    const path = join(disk, 'own', 'weir.log')
    const log = createLog('info', logDestination(path))
    log.info('before')
    const free = fillDisk(disk)
    for (let number = 0; number < 100; number++) log.info(`line ${number} ${'x'.repeat(100)}`)
    free()
    log.info('after')
    const text = readFileSync(path, 'utf8')
    expect(text.match(/"msg":"line \d+ x+"/g)?.length).toBe(100)
    expect(text.indexOf('before')).toBeLessThan(text.indexOf('line 0 '))
    expect(text.trimEnd().endsWith('"msg":"after"}')).toBe(true)
  })
})

it('a folder that cannot be made costs lines as well', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-log-'))
  writeFileSync(join(folder, 'logs'), 'a file where the folder would be')
  const log = createTaskLog(join(folder, 'logs', 'pipeline-1', 'pipeline.log'), { pipeline: 1 })
  log('one')
  log('two')
  rmSync(join(folder, 'logs'))
  mkdirSync(join(folder, 'logs'))
  log.close()
  expect(readFileSync(join(folder, 'logs', 'pipeline-1', 'pipeline.log'), 'utf8')).toMatch(
    /^\S+Z 2 lines are missing here: the log could not be written\.\n$/,
  )
})
