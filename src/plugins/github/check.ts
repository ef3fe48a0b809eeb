/** Tests each token of a connection: whose it is, and whether it may read what is collected. */
import type { RawRecord } from '../../database/table.ts'
import { messageOf, UserError } from '../../errors.ts'
import { type CheckQuestion, type ConnectionCheck, notThere, type Settings } from '../../plugin-kit/index.ts'
import { asApp, isApp, tokensOf } from './connection.ts'

interface Found {
  readonly success: boolean
  readonly message?: string
  readonly login: string
  /** The token works, but it cannot read private repositories. */
  readonly warning: boolean
  readonly installations?: unknown
}

/**
 * The scopes that a token needs, each with wider ones that include it:
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
 */
const NEEDED: readonly (readonly string[])[] = [
  ['repo:status', 'repo'],
  ['repo_deployment', 'repo'],
  ['read:user', 'user'],
  ['read:org', 'write:org', 'admin:org'],
]

function judgeScopes(header: string): Pick<Found, 'success' | 'message' | 'warning'> {
  const granted = header.split(',').map((scope) => scope.trim())
  const missing = NEEDED.filter((names) => !names.some((name) => granted.includes(name))).map(([name]) => name)
  const warning = !granted.includes('repo')
  if (missing.length === 0) return { success: true, warning }
  return { success: false, warning, message: `The token lacks ${missing.join(', ')}: add these scopes to it.` }
}

async function checkToken(settings: Settings, token: string, { open, signal }: CheckQuestion): Promise<Found> {
  const client = open({ ...settings, token })
  try {
    const { body, headers } = await client.send({ path: '/user' }, signal)
    if (typeof body?.login !== 'string') throw notThere('GitHub')
    // Only classic tokens list their rights. Those of other tokens become known only when they are used.
    const scopes = headers['x-oauth-scopes']
    const judged =
      token.startsWith('ghp_') && scopes !== undefined ? judgeScopes(scopes) : { success: true, warning: false }
    return { login: body.login, ...judged }
  } finally {
    await client.close()
  }
}

async function checkApp(settings: Settings): Promise<Found> {
  const app = await asApp(settings, '/app')
  const installations = await asApp(settings, '/app/installations')
  const shown = installations.map(({ id, account }: RawRecord) => ({ id, account: { login: account?.login } }))
  return { success: true, login: String(app.slug ?? app.name ?? ''), warning: false, installations: shown }
}

export async function checkConnection(settings: Settings, question: CheckQuestion): Promise<ConnectionCheck> {
  const tokens = tokensOf(settings)
  if (!isApp(settings) && tokens.length === 0)
    throw new UserError('token is missing: add it. A personal access token is needed.')
  if (!question.isSaved && (isApp(settings) || tokens.length === 1)) {
    const [token = ''] = tokens
    const { success, message, ...found } = isApp(settings)
      ? await checkApp(settings)
      : await checkToken(settings, token, question)
    return { success, ...(message && { message }), details: { installations: null, ...found } }
  }
  const app = { appId: settings.appId, installationId: settings.installationId }
  const each = isApp(settings)
    ? [{ auth_method: 'AppKey', token: '', ...app, ...(await checkApp(settings)) }]
    : await Promise.all(
        tokens.map(async (token) => ({
          auth_method: 'AccessToken',
          token: question.mask(token),
          ...(await checkToken(settings, token, question).catch(failed)),
        })),
      )
  const wrong = each.filter(({ success }) => !success)
  const message = wrong.map((token) => token.message).join(' ')
  // For a connection that is not saved, clients of DevLake read only the first token.
  const { login, warning } = each[0] as Found
  const first = question.isSaved ? {} : { installations: null, login, warning }
  return { success: wrong.length === 0, ...(message && { message }), details: { ...first, tokens: each } }
}

/** The result for a token that fails, so that it is listed beside the others. */
const failed = (error: unknown): Found => ({ success: false, login: '', warning: false, message: messageOf(error) })
