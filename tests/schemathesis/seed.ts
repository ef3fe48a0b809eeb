/** Objects for requests that name some, and a server that replaces the vendors. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function startStranger(): Promise<{ url: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('[]')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Creates two of each, because requests may delete one. */
export async function seed(url: string, token: string, endpoint: string): Promise<void> {
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
  }
  for (const name of ['main', 'second']) {
    const login = { name, endpoint, token: 't', username: 'u', password: 'p', authMethod: 'AccessToken' }
    await send('POST', '/plugins/github/connections', login)
    await send('POST', '/plugins/circleci/connections', login)
    await send('POST', '/plugins/jira/connections', { ...login, authMethod: 'BasicAuth' })
    await send('POST', '/plugins/webhook/connections', { name })
    await send('POST', '/projects', { name, metrics: [{ pluginName: 'dora', pluginOption: '', enable: true }] })
  }
  const scopes = { data: [{ githubId: 1, name: 'shop', fullName: 'acme/shop' }] }
  await send('PUT', '/plugins/github/connections/1/scopes', scopes)
}
