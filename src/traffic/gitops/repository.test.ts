/** Git connects to the address that was checked for a plan's repository, however the address is written. */
import dns from 'node:dns'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readPlan } from '../model/plan.ts'
import { openRepository } from './repository.ts'

/** Makes a name resolve in this process only: git cannot look it up. */
function known(name: string, address: string): void {
  const { lookup } = dns.promises
  onTestFinished(() => {
    Object.assign(dns.promises, { lookup })
    syncBuiltinESMExports()
  })
  Object.assign(dns.promises, {
    lookup: async (host: string, options: object) => (host === name ? [{ address, family: 4 }] : lookup(host, options)),
  })
  syncBuiltinESMExports()
}

test('git is led to the addresses that were checked, and looks no name up again', async () => {
  const heard: string[] = []
  const server = createServer(({ url = '' }, response) => {
    heard.push(url)
    response.writeHead(404).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  known('checked.test', '127.0.0.1')
  const { port } = server.address() as AddressInfo
  await expect(openRepository(`http://checked.test:${port}/shop.git`).head('main')).rejects.toThrow()
  expect(heard).toEqual(['/shop.git/info/refs?service=git-upload-pack'])
})

test.each([
  'https://open.example\\@127.0.0.1/shop.git',
  'https://open.example\t@127.0.0.1/shop.git',
  'ssh://git@open.example\\@127.0.0.1/shop.git',
])('%j, whose host programs read differently, is refused', (repository) => {
  const findings = readFindings({ gitops: { repository } })
  expect(findings).toMatch(/gitops.repository.*expected https:\/\/host\/path/)
})

function readFindings(plan: unknown): string {
  try {
    return JSON.stringify(readPlan(plan))
  } catch (error) {
    return JSON.stringify(error) + String(error)
  }
}
