/** A made-up source whose refresh tokens can be used once. A second use invalidates all tokens. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { TaskRun } from '../../src/plugin-kit/spec/subtask.ts'
import { rotatingFields } from '../../src/plugin-kit/spec/token-rotation.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { listening } from '../support/listening.ts'
import { items, madeUpSpec } from './made-up.ts'

export const rotatingSpec: PluginSpec = {
  ...madeUpSpec,
  connection: {
    endpoint: 'http://127.0.0.1/',
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint' },
      clientSecret: { kind: 'secret', label: 'Client secret' },
      ...rotatingFields,
    },
    rotation: {
      request: ({ clientSecret, refreshToken }) => ({
        path: '/token',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_secret: clientSecret,
          refresh_token: refreshToken,
        }),
      }),
    },
    test: { path: '/boards/7' },
  },
}
export const rotating = definePlugin(rotatingSpec)
export const secrets = createSecrets('a key for tests that rotate tokens')
export const CLIENT_SECRET = 'client-secret-of-this-test'

/** Runs one subtask as a task would, with encrypted secrets. */
export async function collectStories(
  database: TaskRun['database'],
  log: (line: string) => void = () => {},
): Promise<void> {
  const subtask = rotating.subtasks.find(({ name }) => name === 'collectStories')
  await subtask?.run({
    database,
    options: { connectionId: 1, boardId: 7 },
    fullSync: true,
    progress: () => {},
    log,
    signal: new AbortController().signal,
    decrypt: secrets.decrypt,
    encrypt: secrets.encrypt,
  })
}

export interface RotatingSource {
  readonly url: string
  /** The valid refresh token. It is empty if none is valid. */
  refreshToken: string
  /** The expiry of each access token, by the source's clock. */
  readonly accessTokens: Map<string, number>
  readonly refreshes: string[]
  refusals: number
  now: () => number
  /** Called for each use of a valid access token, before the answer. */
  onUse: (token: string) => Promise<void> | void
  /** Awaited before tokens are sent. */
  delay: () => Promise<unknown>
  /** Replace the answers to the next requests for tokens, after the tokens were made. */
  readonly troubles: ((response: ServerResponse) => void)[]
  stop(): Promise<void>
}

export const LIFE_SECONDS = 3600

export async function startRotatingSource(): Promise<RotatingSource> {
  const source = {
    refreshToken: 'refresh-0',
    accessTokens: new Map<string, number>(),
    refreshes: [] as string[],
    refusals: 0,
    now: () => Date.now(),
    onUse: (() => {}) as RotatingSource['onUse'],
    delay: (async () => {}) as RotatingSource['delay'],
    troubles: [] as ((response: ServerResponse) => void)[],
  }
  function tokensFor(form: URLSearchParams): { status: number; body: unknown } {
    const given = form.get('refresh_token') ?? ''
    source.refreshes.push(given)
    if (form.get('client_secret') !== CLIENT_SECRET) return { status: 401, body: { error: 'invalid_client' } }
    if (given !== source.refreshToken) {
      source.refreshToken = ''
      source.accessTokens.clear()
      const error_description = `${given} has been used, or is not known`
      return { status: 400, body: { error: 'invalid_grant', error_description } }
    }
    const count = source.refreshes.length
    source.refreshToken = `refresh-${count}-${Math.random()}`
    const access_token = `access-${count}-${Math.random()}`
    source.accessTokens.set(access_token, source.now() + LIFE_SECONDS * 1000)
    return {
      status: 200,
      body: { access_token, refresh_token: source.refreshToken, token_type: 'bearer', expires_in: LIFE_SECONDS },
    }
  }
  const server = createServer(async (request: IncomingMessage, response) => {
    const url = new URL(request.url ?? '/', 'http://source')
    response.sendDate = false
    response.setHeader('date', new Date(source.now()).toUTCString())
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.pathname === '/token') {
      const { status, body } = tokensFor(new URLSearchParams((await Array.fromAsync(request)).join('')))
      await source.delay()
      const trouble = source.troubles.shift()
      return trouble ? trouble(response) : send(status, body)
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if ((source.accessTokens.get(token) ?? 0) <= source.now()) {
      source.refusals++
      return send(401, { message: `${token} is not valid` })
    }
    await source.onUse(token)
    const found = items(3)
    return send(200, url.pathname.endsWith('/stories') ? { total: found.length, items: found } : { id: 7 })
  })
  return Object.assign(source, await listening(server))
}
