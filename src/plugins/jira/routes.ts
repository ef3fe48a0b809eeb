/** Routes for the forms of scope configs: the commits that an issue links to, and patterns that find them. */
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { body, example, id, longText, longWords, type Route, type RouteServer, route } from '../../plugin-kit/index.ts'
import { type AskJira, applicationTypes, commitRegex, commitsIn, developmentCommits } from './commit-links.ts'

const NOT_FOUND = [400, 404]
const params = z.object({ connectionId: id })
const key = z.string().min(1)
const answer = z.array(z.string())
const failures = [404, 502, 504]

const asking = <Result>(server: RouteServer, connectionId: number, ask: (ask: AskJira) => Promise<Result>) =>
  server.ask(connectionId, (send) =>
    ask(async (path, query) => {
      const { status, body } = await send({ path, query, accept: NOT_FOUND })
      if (!NOT_FOUND.includes(status)) return body
      const [reason = 'it does not know the issue'] = body?.errorMessages ?? []
      throw new UserError(`Jira answered ${status}: ${reason}.`.replace(/\.\.$/, '.'), { status })
    }),
  )

export const jiraRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/plugins/jira/connections/:connectionId/application-types',
    summary: 'Code hosts that the development panel of an issue names',
    least: 'admin',
    size: 'none',
    cost: 'light',
    params,
    query: z.object({ key }),
    answer,
    failures,
    run: ({ params: { connectionId }, query }, server) =>
      asking(server, connectionId, (ask) => applicationTypes(ask, query.key)),
  }),
  route({
    method: 'GET',
    path: '/plugins/jira/connections/:connectionId/dev-panel-commits',
    summary: 'Addresses of the newest commits in the development panel of an issue',
    least: 'admin',
    size: 'none',
    cost: 'light',
    params,
    query: z.object({ key, applicationType: z.string().min(1) }),
    answer,
    failures,
    run: ({ params: { connectionId }, query }, server) =>
      asking(server, connectionId, (ask) => developmentCommits(ask, query.key, query.applicationType)),
  }),
  route({
    method: 'POST',
    path: '/plugins/jira/generate-regex',
    summary: 'The regular expression for an address with {namespace}, {repo_name} and {commit_sha}',
    least: 'viewer',
    size: 'settings',
    cost: 'light',
    body: body({ pattern: longText }).meta({
      ...example({ pattern: 'https://git.example/{namespace}/{repo_name}/commit/{commit_sha}' }),
    }),
    answer: z.object({ regex: z.string() }),
    run: async (request) => ({ regex: commitRegex(request.body.pattern) }),
  }),
  route({
    method: 'POST',
    path: '/plugins/jira/apply-regex',
    summary: 'What a regular expression finds in each of some addresses',
    least: 'viewer',
    size: 'settings',
    cost: 'heavy',
    body: body({ regex: longText, urls: longWords }),
    answer: z.array(z.object({ namespace: z.string(), repo_name: z.string(), commit_sha: z.string() })),
    run: async ({ body: { regex, urls } }, server) => commitsIn(await server.findGroups(regex, 'regex', urls)),
  }),
]
