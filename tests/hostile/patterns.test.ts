/** No regular expression of Weir takes more than linear time on any text. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { checkSync } from 'recheck'
import { parseSync } from 'vite'
import { expect, it } from 'vitest'

/** Judging takes a minute, so patterns in this file, which were found linear, are skipped. `FULL_SIZE=true` judges all and writes the file. */
const JUDGED = new URL('./judged-patterns.txt', import.meta.url)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Place {
  readonly source: string
  readonly flags: string
  readonly file: string
}

/** Files with patterns that are assembled from constants when the program starts. */
const FROM_CONSTANTS = ['src/api/unknown-addresses.ts', 'src/database/exact-json.ts', 'traffic/render/diff.ts']

/** Without an unbounded repetition, a pattern reads a limited number of characters at each position. */
const canBeLong = ({ source }: Place) => /[*+]|\{\d*,\}/.test(source)

function patternsIn(file: string): { patterns: Place[]; built: string[] } {
  const patterns: Place[] = []
  const built: string[] = []
  const walk = (node: any): void => {
    if (node === null || typeof node !== 'object') return
    if (node.type === 'Literal' && node.regex) {
      patterns.push({ source: node.regex.pattern, flags: node.regex.flags, file })
    }
    const isBuilt = node.type === 'NewExpression' || node.type === 'CallExpression'
    if (isBuilt && node.callee?.name === 'RegExp') built.push(file)
    for (const child of Object.values(node)) walk(child)
  }
  walk(parseSync(file, readFileSync(join(ROOT, file), 'utf8')).program)
  return { patterns, built }
}

/** Runs the pattern over the text that should slow it down. A linear pattern needs a few milliseconds of the ten seconds. */
function isSlow({ source, flags }: Place, text: string): Promise<boolean> {
  const code = `const { parentPort, workerData: [source, flags, text] } = require('node:worker_threads')
    text.replace(new RegExp(source, flags), ''); parentPort.postMessage('done')`
  const worker = new Worker(code, { eval: true, workerData: [source, flags, text] })
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      void worker.terminate()
      resolve(true)
    }, 10_000)
    worker.once('error', reject).once('message', () => {
      clearTimeout(limit)
      resolve(false)
    })
  })
}

const LENGTH = 1_000_000
interface Attack {
  readonly pumps: readonly { readonly prefix: string; readonly pump: string }[]
  readonly suffix: string
}
const attackOf = ({ pumps, suffix }: Attack) =>
  pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(LENGTH / pump.length / pumps.length))).join('') +
  suffix

it('every pattern of the program is linear', async () => {
  const files = globSync('{src,traffic}/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
  const found = files.map(patternsIn)
  expect(found.flatMap(({ built }) => built).filter((file) => !FROM_CONSTANTS.includes(file))).toEqual([])
  const unique = new Map(
    found.flatMap(({ patterns }) => patterns.filter(canBeLong)).map((each) => [`/${each.source}/${each.flags}`, each]),
  )
  expect(unique.size).toBeGreaterThan(80)
  const judged = new Set(process.env.FULL_SIZE === 'true' ? [] : readFileSync(JUDGED, 'utf8').split('\n'))
  const slow: string[] = []
  for (const [pattern, place] of unique) {
    if (judged.has(pattern)) continue
    // A sticky pattern is tried at only one position.
    const source = place.flags.includes('y') ? `^(?:${place.source})` : place.source
    const verdict = checkSync(source, place.flags.replace(/[yd]/g, ''), { timeout: 60_000 })
    if (verdict.status === 'unknown') slow.push(`${place.file}: ${pattern}: cannot be judged`)
    if (verdict.status === 'vulnerable' && (await isSlow(place, attackOf(verdict.attack)))) {
      slow.push(`${place.file}: ${pattern}: ${verdict.complexity.summary}`)
    }
  }
  expect(slow).toEqual([])
  if (process.env.FULL_SIZE === 'true') writeFileSync(JUDGED, `${[...unique.keys()].sort().join('\n')}\n`)
}, 600_000)
