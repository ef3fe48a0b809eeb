import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { runCli } from './support/cli.ts'
import { describeEachDatabase } from './support/databases.ts'
import { freePort, runStatement } from './support/servers.ts'

/** Statements that create a user who may connect and read, and nothing else, per engine. */
const READER = {
  postgres: (database: string) => [
    `create role reader_${database} login password 'reader-secret'`,
    `grant connect on database ${database} to reader_${database}`,
    'revoke create on schema public from public',
  ],
  mysql: (database: string) => [
    `create user reader_${database} identified by 'reader-secret'`,
    `grant select on ${database}.* to reader_${database}`,
  ],
}
const FORGET_READER = {
  postgres: (database: string) => [`drop owned by reader_${database}`, `drop role reader_${database}`],
  mysql: (database: string) => [`drop user reader_${database}`],
}

async function refused(url: string): Promise<string> {
  const { code, output, errors } = await runCli(['up'], { DB_URL: url, PORT: '0' })
  expect(errors.trimEnd().split('\n'), errors).toHaveLength(1)
  expect(errors).toMatch(/^weir: .+\.\n$/)
  expect(errors).not.toContain('    at ')
  expect(output).not.toContain('ready')
  expect(code).toBe(1)
  return errors
}

describeEachDatabase('a wrong DB_URL', (test) => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(test.url)
    change(url)
    return url.href
  }
  const nameOf = () => new URL(test.url).pathname.slice(1)

  it('refused connection', async () => {
    const port = String(await freePort())
    expect(await refused(changed((url) => (url.port = port)))).toContain(`127.0.0.1:${port}`)
  })

  it('wrong password', async () => {
    const error = await refused(changed((url) => (url.password = 'not-the-password')))
    expect(error).toContain('DB_URL')
    expect(error).not.toContain('not-the-password')
  })

  it('missing database', async () => {
    expect(await refused(changed((url) => (url.pathname = '/no_such_lake')))).toContain('no_such_lake')
    expect(await refused(changed((url) => (url.pathname = '/')))).toContain('/lake')
  })

  it('user that may only read', async () => {
    for (const statement of READER[test.engine](nameOf())) await runStatement[test.engine](test.url, statement)
    try {
      const error = await refused(
        changed((url) => {
          url.username = `reader_${nameOf()}`
          url.password = 'reader-secret'
        }),
      )
      expect(error).toMatch(/Grant|read-only/)
      expect(error).not.toContain('reader-secret')
      expect((await test.database.describe()).size).toBe(0)
    } finally {
      for (const statement of FORGET_READER[test.engine](nameOf())) await runStatement[test.engine](test.url, statement)
    }
  })

  it('unknown scheme, or no address at all', async () => {
    expect(await refused(changed((url) => url).replace(/^\w+/, 'oracle'))).toContain('oracle')
    expect(await refused('lake')).toContain('DB_URL')
  })

  it('a port in use leaves the database untouched', async () => {
    const taken = createServer()
    const port = await new Promise<number>((done) =>
      taken.listen(0, '127.0.0.1', () => done((taken.address() as { port: number }).port)),
    )
    const { code, errors } = await runCli(['up'], { DB_URL: test.url, PORT: String(port) })
    taken.close()
    expect(errors).toBe(`weir: Port ${port} is in use: stop the program that uses it, or set PORT to another number.\n`)
    expect(code).toBe(1)
    expect((await test.database.describe()).size).toBe(0)
  })
})
