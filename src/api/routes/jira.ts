/** What the forms of Jira's scope configs ask for: which commits an issue links to, and patterns that find them. */
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import {
  type AskJira,
  applicationTypes,
  commitRegex,
  commitsIn,
  developmentCommits,
} from '../../plugins/jira/commit-links.ts'
import type { Routes } from '../api.ts'
import { askSource } from '../ask-source.ts'
import { answers, example, REMOTE_FAILURES } from '../contract/common.ts'
import { body, longText, longWords } from '../contract/lenient.ts'
import { patience, stopWith } from '../stream.ts'
import { connectionParameter } from './connections.ts'

const tags = ['jira']
const NOT_FOUND = [400, 404]

export const jiraRoutes: Routes = (api, { plugins, services }) => {
  const source = plugins.find(({ name }) => name === 'jira')?.source
  if (!source) return
  const params = connectionParameter
  const key = z.string().min(1)
  const response = answers(200, z.array(z.string()), 404, ...REMOTE_FAILURES)

  const asking = <Result>(connectionId: number, reply: FastifyReply, ask: (ask: AskJira) => Promise<Result>) =>
    askSource(source, services, connectionId, (client) =>
      ask(async (path, query) => {
        const { status, body } = await client.send({ path, query, accept: NOT_FOUND }, patience(stopWith(reply)))
        if (!NOT_FOUND.includes(status)) return body
        const [said = 'it does not know the issue'] = body?.errorMessages ?? []
        throw new UserError(`Jira answered ${status}: ${said}.`.replace(/\.\.$/, '.'), { status })
      }),
    )

  api.get(
    '/plugins/jira/connections/:connectionId/application-types',
    {
      schema: {
        tags,
        summary: 'Code hosts that the development panel of an issue names',
        params,
        querystring: z.object({ key }),
        response,
      },
    },
    ({ params: { connectionId }, query }, reply) =>
      asking(connectionId, reply, (ask) => applicationTypes(ask, query.key)),
  )
  api.get(
    '/plugins/jira/connections/:connectionId/dev-panel-commits',
    {
      schema: {
        tags,
        summary: 'Addresses of the newest commits in the development panel of an issue',
        params,
        querystring: z.object({ key, applicationType: z.string().min(1) }),
        response,
      },
    },
    ({ params: { connectionId }, query }, reply) =>
      asking(connectionId, reply, (ask) => developmentCommits(ask, query.key, query.applicationType)),
  )
  api.post(
    '/plugins/jira/generate-regex',
    {
      schema: {
        tags,
        summary: 'The regular expression for an address with {namespace}, {repo_name} and {commit_sha}',
        body: body({ pattern: longText }).meta({
          ...example({ pattern: 'https://git.example/{namespace}/{repo_name}/commit/{commit_sha}' }),
        }),
        response: answers(200, z.object({ regex: z.string() })),
      },
    },
    async (request) => ({ regex: commitRegex(request.body.pattern) }),
  )
  const commit = z.object({ namespace: z.string(), repo_name: z.string(), commit_sha: z.string() })
  api.post(
    '/plugins/jira/apply-regex',
    {
      schema: {
        tags,
        summary: 'What a regular expression finds in each of some addresses',
        body: body({ regex: longText, urls: longWords }),
        response: answers(200, z.array(commit)),
      },
    },
    async (request) => commitsIn(request.body.regex, request.body.urls),
  )
}
