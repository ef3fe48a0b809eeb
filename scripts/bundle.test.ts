import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import packageFile from '../package.json' with { type: 'json' }
import { bundle } from './bundle.ts'

const root = join(import.meta.dirname, '..')

it('makes a package of a hundred files, which runs anywhere and finds its threads', { timeout: 300_000 }, async () => {
  const place = mkdtempSync(join(tmpdir(), 'weir-bundle-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const folder = join(place, 'dist/src')
  const sources = await bundle({ programs: ['src/main.ts'], folder, isStayingHere: false })
  expect(sources.filter((path) => path.includes('node_modules'))).toEqual([])

  const files = readdirSync(folder)
  expect(files.length).toBeLessThan(200)
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const started = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/new URL\("([^"]+\.js)", import\.meta\.url\)/g)].map(([, file]) => file as string),
  )
  expect(started.sort()).toEqual([
    'api-heavy-worker.js',
    'plugins-index.js',
    'runner-delivery-worker.js',
    'runner-task-worker.js',
  ])
  for (const file of started) expect(existsSync(join(folder, file)), file).toBe(true)
  // It would be the place of the machine that made it.
  for (const [file, text] of texts) expect(text.includes(root), file).toBe(false)

  writeFileSync(join(place, 'package.json'), JSON.stringify({ type: 'module' }))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  const run = (...parameters: string[]) =>
    execFileSync(process.execPath, [join(folder, 'main.js'), ...parameters], { encoding: 'utf8' })
  expect(run('--version').trim()).toBe(packageFile.version)
  expect(run('metrics', '--help')).toContain('--project')
})
