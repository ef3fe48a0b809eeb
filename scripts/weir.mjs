#!/usr/bin/env node
import { ensureWebBuilt } from './build-web.mjs'
import { launch } from './launch.mjs'

const parameters = process.argv.slice(2)
await launch('src/main.ts', parameters, parameters[0] === 'up' ? { prepare: ensureWebBuilt } : {})
