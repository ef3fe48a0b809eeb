import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import packageFile from '../package.json' with { type: 'json' }
import trafficFile from '../traffic/package.json' with { type: 'json' }
import webFile from '../web/package.json' with { type: 'json' }

it('every dependency has its line of reason, and no line is left over', () => {
  const document = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8')
  const explained = [...document.matchAll(/^\| `([^`]+)` \| (\S.{10,}) \|$/gm)].map(([, name]) => name)
  const used = [
    packageFile.dependencies,
    trafficFile.dependencies,
    webFile.dependencies,
    packageFile.devDependencies,
  ].flatMap(Object.keys)
  expect(explained.sort()).toEqual(used.sort())
})
