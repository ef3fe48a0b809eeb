/**
 * npm run bench -- NAME [arguments]   one benchmark; its last line gives a figure and a ratio measured in the same run
 * npm run bench -- all [--quick]      every benchmark, and one table of their figures and bounds
 * npm run bench -- compare REF        every benchmark, small, on another commit and on this state of the files
 */
import { join } from 'node:path'
import { UserError } from '../src/errors.ts'
import { BENCHMARKS } from './list.ts'

const [name = '', ...rest] = process.argv.slice(2)
const names = new Set([...BENCHMARKS.map((each) => each.name), 'all', 'compare'])
if (!names.has(name)) {
  console.error(`bench: name one of ${[...names].join(', ')}`)
  process.exit(2)
}
const { run } = await import(join(import.meta.dirname, `${name}.ts`))
try {
  await run(rest)
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error(`bench: ${error.message}`)
  process.exitCode = 2
}
