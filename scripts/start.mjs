import { ensureWebBuilt } from './build-web.mjs'
import { say } from './install.mjs'
import { launch } from './launch.mjs'

say('starting')
await launch('src/main.ts', ['up', ...process.argv.slice(2)], {
  prepare: ensureWebBuilt,
})
