/** Signs requests to Azure DevOps, and tests the rights of a token. */
import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import {
  type ApiClient,
  type CheckQuestion,
  type ConnectionCheck,
  type HttpRequest,
  type HttpResponse,
  notThere,
  quotaFromHeaders,
  type RateLimits,
  type Settings,
} from '../../plugin-kit/index.ts'
import { inOrganization, inProject, isCloud, onHost, preview, versioned } from './kit.ts'

export const ENDPOINT = 'https://dev.azure.com/'
const PROFILE = 'https://app.vssps.visualstudio.com'

export const hosts = ({ endpoint }: Settings): readonly string[] =>
  isCloud(endpoint || ENDPOINT) ? ['https://vsrm.dev.azure.com', 'https://vssps.dev.azure.com', PROFILE] : []

/** A personal access token is a password without a user. */
export const sign = (token: string) => ({ authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}` })

// https://learn.microsoft.com/azure/devops/integrate/concepts/rate-limits#api-client-experience
export const limits: RateLimits = {
  quota: quotaFromHeaders({
    remaining: 'x-ratelimit-remaining',
    reset: 'x-ratelimit-reset',
    limit: 'x-ratelimit-limit',
  }),
}

const SIGN_IN = /_signin|sign[ -]?in|login\.microsoftonline/i
const LONGEST_HEAD = 4000
/** Detects a wrong or expired token: Azure DevOps answers with 203, or with 200 or 302, and leads to the page for signing in. */
export function asksToSignIn({ status, headers, bytes }: HttpResponse): boolean {
  if (status === 302) return /_signin|login\.microsoftonline/i.test(headers.location ?? '')
  if (status >= 300 || !/html/i.test(headers['content-type'] ?? '')) return false
  return status === 203 || SIGN_IN.test(Buffer.from(bytes.subarray(0, LONGEST_HEAD)).toString())
}

const REFUSED = [203, 302, 401, 403]

/** The rights that a token needs, each with a request that shows whether the token has it. */
const RIGHTS: readonly (readonly [name: string, of: (endpoint: string, place: Place) => HttpRequest])[] = [
  ['Code (Read)', (_, place) => versioned(inProject(place, 'git/repositories'))],
  ['Build (Read)', (_, place) => versioned(inProject(place, 'build/builds'), { $top: 1 })],
  [
    'Release (Read)',
    (endpoint, place) => versioned(onHost(endpoint, 'vsrm', inProject(place, 'release/deployments')), { $top: 1 }),
  ],
  ['Environment (Read & manage)', (_, place) => preview(inProject(place, 'distributedtask/environments'), { $top: 1 })],
  ['Work Items (Read)', (_, place) => versioned(inProject(place, 'wit/workitemtypes'))],
]
interface Place {
  readonly organization_id: string
  readonly project_id: string
}

export async function checkConnection(settings: Settings, question: CheckQuestion): Promise<ConnectionCheck> {
  const endpoint: string = settings.endpoint || ENDPOINT
  const client = question.open(settings)
  try {
    const [organization] = await organizationsOf(client, settings, question.signal)
    if (!organization) {
      return {
        success: true,
        message: 'The owner of the token belongs to no organization yet: there is nothing to collect.',
      }
    }
    const request = versioned(inOrganization(organization, 'projects'), { $top: 1 })
    const { body } = await client.send(request, question.signal)
    if (!Array.isArray(body?.value)) throw notThere('Azure DevOps')
    const [project] = body.value as readonly RawRecord[]
    if (!project) return { success: true, message: `${organization} has no projects yet: there is nothing to collect.` }
    const place = { organization_id: organization, project_id: project.name }
    const missing = await missingRights(settings, question, (of) => of(endpoint, place))
    if (missing.length === 0) return { success: true }
    return { success: false, message: `The token lacks ${missing.join(', ')}: make one with these rights.` }
  } finally {
    await client.close()
  }
}

type Of = (typeof RIGHTS)[number][1]
/** Tries each right with a separate client, because a client never uses a credential again once it was refused. */
async function missingRights(settings: Settings, { open, signal }: CheckQuestion, request: (of: Of) => HttpRequest) {
  const missing: string[] = []
  for (const [name, of] of RIGHTS) {
    const client = open(settings)
    try {
      const { status } = await client.send({ ...request(of), accept: [...REFUSED, 404] }, signal)
      if (REFUSED.includes(status)) missing.push(name)
    } finally {
      await client.close()
    }
  }
  return missing
}

/** Returns the organization that the connection names, or all organizations of the owner of the token. */
export async function organizationsOf(client: ApiClient, settings: Settings, signal: AbortSignal): Promise<string[]> {
  if (settings.organization) return [String(settings.organization)]
  if (!isCloud(settings.endpoint || ENDPOINT)) {
    throw new UserError('organization is missing: a Server has no list of its collections. Add the name of one.')
  }
  const { body: profile } = await client.send(versioned(`${PROFILE}/_apis/profile/profiles/me`), signal)
  if (typeof profile?.id !== 'string') throw notThere('Azure DevOps')
  const { body } = await client.send(versioned(`${PROFILE}/_apis/accounts`, { memberId: profile.id }), signal)
  return (body?.value ?? []).map(({ accountName }: RawRecord) => String(accountName))
}
