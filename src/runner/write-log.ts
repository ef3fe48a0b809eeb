/** Writes the log of a task or a run to its file. Lines that cannot be written are missing from the log, and nothing else suffers. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { counted } from '../basics/counted.ts'
import { messageOf } from '../errors.ts'
import { redact } from '../log.ts'
import { tellWork, type WorkPlace } from '../telemetry/events/work-events.ts'

interface TaskLog {
  (line: string): void
  close(): void
}

/** The pause after a failure. A disk that is full will also be full for the next line. */
const PAUSE_MS = 1000

/**
 * Appends each line at once, so that readers can follow and a crash loses nothing. Secrets are redacted. The log of the server
 * gets the lines too.
 */
export function createTaskLog(path: string, place: WorkPlace): TaskLog {
  const file = createAppender(path)
  let missing = 0
  let tryAt = 0
  const stamped = (line: string) => `${new Date().toISOString()} ${line}\n`

  function tryToWrite(line: string | undefined): void {
    try {
      if (missing > 0) file.append(stamped(`${missingWords(missing)}: the log could not be written.`))
      missing = 0
      if (line !== undefined) file.append(stamped(line))
    } catch (error) {
      if (missing === 0) {
        const why = `the log of this run cannot be written to ${path}, so lines will be missing from it: ${messageOf(error)}`
        tellWork({ kind: 'line', ...place, line: why, isWarning: true })
      }
      if (line !== undefined) missing++
      tryAt = performance.now() + PAUSE_MS
    }
  }

  const log = (line: string) => {
    const clean = redact(line)
    if (missing > 0 && performance.now() < tryAt) missing++
    else tryToWrite(clean)
    tellWork({ kind: 'line', ...place, line: clean })
  }
  return Object.assign(log, {
    close() {
      if (missing > 0) tryToWrite(undefined)
      file.close()
    },
  })
}

const missingWords = (count: number) => `${counted(count, 'line')} ${count === 1 ? 'is' : 'are'} missing here`

/** If a line was only partly written, ends it before the next one begins. */
function createAppender(path: string) {
  let file: number | undefined
  let isWithinLine = false
  return {
    append(text: string): void {
      if (file === undefined) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        file = openSync(path, 'a', 0o600)
      }
      let rest = Buffer.from(isWithinLine ? `\n${text}` : text)
      while (rest.length > 0) {
        const written = writeSync(file, rest)
        if (written > 0) isWithinLine = rest[written - 1] !== 10
        rest = rest.subarray(written)
      }
    },
    close(): void {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}
