/** npm run bench -- NAME [arguments]: runs one benchmark; its last line gives a figure and a ratio measured in the same run. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const [name = '', ...rest] = process.argv.slice(2)
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !['main.ts'].includes(file))
  .map((file) => file.slice(0, -3))
if (!names.includes(name)) {
  console.error(`bench: name one of ${names.join(', ')}`)
  process.exit(2)
}
const { run } = await import(join(import.meta.dirname, `${name}.ts`))
await run(rest)
