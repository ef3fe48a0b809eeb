import { say } from './install.mjs'
import { launch } from './launch.mjs'

say('starting')
await launch('src/main.ts', ['up', ...process.argv.slice(2)], {
  // The web page is built here, once there is one: step('building the web page', …).
})
