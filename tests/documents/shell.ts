/** A folder like a fresh clone and a shell in it, for commands as documents print them. */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageFile from '../../package.json' with { type: 'json' }
import { root } from './blocks.ts'

export interface Shell {
  /** Runs a block. A status of 400 or more, or any other failure, ends it. */
  run(script: string): Promise<{ readonly code: number | null; readonly output: string }>
  remove(): void
}

/** A block that ends with one of these leaves a server running until it is stopped. */
const SERVER = /(?:npm start|npx weir up)\s*(?:#.*)?$/
const READY = /Stop +Ctrl-C/

/**
 * npx takes longer to find the program than most commands take to run, so the file that package.json names is started
 * directly. The commands of the README are run by npm itself, in tests/readme.test.ts.
 */
const NPX = `#!/bin/sh
[ "$1" = weir ] || PATH="\${PATH#*:}" exec npx "$@"
shift
exec node '${join(root, packageFile.bin.weir)}' "$@"
`

export function openShell(environment: Readonly<Record<string, string>>): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'weir-documents-'))
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['scripts', 'deploy', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  const home = join(folder, 'home')
  mkdirSync(home)
  // Makes a refused request a failure, and makes curl print only the answer.
  writeFileSync(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\nwrite-out = "\\n"\n')
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'npx'), NPX, { mode: 0o755 })
  const env = { PATH: `${programs}:${process.env.PATH}`, HOME: home, CURL_HOME: home, ...environment }
  return {
    run(script) {
      const child = spawn('sh', ['-e', '-c', script], {
        cwd: folder,
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      let isReady = false
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text
          if (isReady || !SERVER.test(script.trim()) || !READY.test(output)) return
          isReady = true
          process.kill(-(child.pid as number), 'SIGTERM')
        })
      }
      return new Promise((done) => child.once('close', (code) => done({ code: isReady ? 0 : code, output })))
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
