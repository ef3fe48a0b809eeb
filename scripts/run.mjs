/** node scripts/run.mjs FILE [argument …]: runs one of the project's own programs, with everything that it needs. */
import { launch } from './launch.mjs'

const [file, ...parameters] = process.argv.slice(2)
if (!file) {
  console.error('weir: name the file to run, for example: node scripts/run.mjs bench/main.ts')
  process.exit(1)
}
await launch(file, parameters, { development: true })
