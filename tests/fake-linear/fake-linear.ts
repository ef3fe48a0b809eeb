/**
 * The part of Linear's GraphQL API that the plugin uses, over real HTTP: https://linear.app/developers/graphql. Queries are
 * executed against the schema, so that a field or an argument that Linear does not have is refused. Lists come newest first.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { buildSchema, type GraphQLError, graphql } from 'graphql'
import type { Answer, Fault } from '../support/fake-source.ts'
import { listening } from '../support/listening.ts'
import { SCHEMA } from './schema.ts'
import { createWorld, type FakeIssue, type FakeTeam } from './world.ts'

export const TOKEN = 'lin_api_secret'
const LARGEST_PAGE = 250
const schema = buildSchema(SCHEMA)

interface PageArguments {
  readonly first?: number
  readonly after?: string
}
function page<Thing>(all: readonly Thing[], { first = 50, after }: PageArguments) {
  if (first > LARGEST_PAGE) throw new Error(`first: at most ${LARGEST_PAGE}`)
  const start = Number(after ?? 0)
  const nodes = all.slice(start, start + first)
  return { nodes, pageInfo: { hasNextPage: start + first < all.length, endCursor: String(start + nodes.length) } }
}
const listOf =
  <Thing>(all: () => readonly Thing[]) =>
  (query: PageArguments) =>
    page(all(), query)

interface ListArguments extends PageArguments {
  readonly orderBy?: 'createdAt' | 'updatedAt'
  readonly includeArchived?: boolean
}

function issueNode({ parent, ...issue }: FakeIssue): object {
  return {
    ...issue,
    parent: parent && { id: parent.id },
    labels: listOf(() => issue.labels),
    relations: listOf(() => issue.relations.map((each) => ({ ...each, relatedIssue: { id: each.relatedIssue.id } }))),
    comments: listOf(() => issue.comments),
    history: listOf(() => issue.history),
  }
}

const teamNode = (team: FakeTeam) => ({
  ...team,
  states: listOf(() => team.states),
  cycles: listOf(() => team.cycles),
  issues({ orderBy = 'createdAt', includeArchived = false, ...query }: ListArguments) {
    const shown = team.issues.filter(({ trashed }) => includeArchived || !trashed)
    return page(
      shown
        .toSorted((one, other) => (one[orderBy] < other[orderBy] ? 1 : one[orderBy] > other[orderBy] ? -1 : 0))
        .map(issueNode),
      query,
    )
  },
})

interface TeamFilter {
  readonly or?: readonly TeamFilter[]
  readonly name?: { readonly containsIgnoreCase?: string }
  readonly key?: { readonly eqIgnoreCase?: string }
}
function isWanted(team: FakeTeam, { or, name, key }: TeamFilter): boolean {
  if (or) return or.some((each) => isWanted(team, each))
  if (name?.containsIgnoreCase !== undefined)
    return team.name.toLowerCase().includes(name.containsIgnoreCase.toLowerCase())
  if (key?.eqIgnoreCase !== undefined) return team.key.toLowerCase() === key.eqIgnoreCase.toLowerCase()
  return true
}

const refusal = (status: number, message: string): Answer => [status, { errors: [{ message }] }]
const notFound = (what: string) => new Error(`Entity not found: ${what}`)

export async function startFakeLinear() {
  const world = createWorld()
  const requests: string[] = []
  const faults: Fault[] = []
  const root = {
    viewer: () => world.users[0],
    users: listOf(() => world.users),
    teams: ({ filter = {}, ...query }: PageArguments & { filter?: TeamFilter }) =>
      page(world.teams.filter((team) => isWanted(team, filter)).map(teamNode), query),
    team({ id }: { readonly id: string }) {
      const team = world.teams.find((each) => each.id === id)
      if (!team) throw notFound('Team')
      return teamNode(team)
    },
    issue({ id }: { readonly id: string }) {
      const issue = world.issues().find((each) => each.id === id)
      if (!issue) throw notFound('Issue')
      return issueNode(issue)
    },
  }
  const withCode = ({ message, path, originalError }: GraphQLError) => ({
    message,
    ...(path && { path }),
    extensions: { code: originalError ? 'INPUT_ERROR' : 'GRAPHQL_VALIDATION_FAILED' },
  })
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    requests.push(sent)
    const answer = ([status, body]: Answer) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        date: world.now().toUTCString(),
        'x-ratelimit-requests-limit': '5000',
        'x-ratelimit-requests-remaining': '4999',
        'x-ratelimit-requests-reset': String(Date.now() + 60_000),
      })
      response.end(JSON.stringify(body))
    }
    const place = faults.findIndex(({ path }) => sent.includes(path))
    const fault = faults[place]
    if (fault && !fault.isLasting) faults.splice(place, 1)
    if (fault) return answer(fault.answer)
    if (request.headers.authorization !== TOKEN) return answer(refusal(401, 'Authentication required'))
    if (request.url !== '/graphql' || request.method !== 'POST') return answer(refusal(404, 'Not found'))
    const { query, variables } = JSON.parse(sent)
    const { data, errors } = await graphql({ schema, source: query, rootValue: root, variableValues: variables })
    answer([errors && !data ? 400 : 200, { ...(data && { data }), ...(errors && { errors: errors.map(withCode) }) }])
  })
  const { url, stop } = await listening(server)
  return { url: `${url}graphql`, stop, world, requests, faults, now: () => world.now(), onRequest: () => {} }
}
export type FakeLinear = Awaited<ReturnType<typeof startFakeLinear>>

// Run by itself, it is something to collect from until it is stopped.
if (import.meta.main) {
  const { url, world } = await startFakeLinear()
  const team = world.addTeam('team-1', 'Engineering', 'ENG')
  world.move(world.open(team), 2)
  console.log(`Linear answers at ${url} to the key ${TOKEN}`)
}
