import type { FastifyRequest } from 'fastify'
import { readMine } from '../../control-plane/people/mine.ts'
import { findPerson, type Person } from '../../control-plane/people/person.ts'
import {
  arePersonalViewsOn,
  requirePersonalViews,
  switchPersonalViews,
} from '../../control-plane/people/personal-views.ts'
import { UserError } from '../../errors.ts'
import { accessMode } from '../access/access-token.ts'
import { actorOf, visibleProjects } from '../access/gate.ts'
import type { ApiContext, Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { mineQuery, mineRecord, personalViewsRecord } from '../contract/groups.ts'

const tags = ['people']

export const mineRoutes: Routes = (api, context) => {
  const { database } = context
  api.get(
    '/v1/mine',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What waits for you, what of yours waits, and where each of your changes is',
        querystring: mineQuery,
        response: answers(200, mineRecord, 403, 404),
      },
    },
    async (request) => {
      await requirePersonalViews(database)
      const person = await personOf(context, request, request.query.user)
      return { ...person, ...(await readMine(database, person, visibleProjects(request))) }
    },
  )
  api.get(
    '/v1/personal-views',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'May users see a page of their own work?', response: answers(200, personalViewsRecord) },
    },
    async () => ({ isOn: await arePersonalViewsOn(database) }),
  )
  api.put(
    '/v1/personal-views',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Switch the page of the own work on or off, for everybody',
        body: personalViewsRecord,
        response: answers(200, personalViewsRecord),
      },
    },
    async (request) => {
      await switchPersonalViews(database, request.body.isOn, actorOf(request))
      return { isOn: await arePersonalViewsOn(database) }
    },
  )
}

/** Nobody sees the page of somebody else, unless nobody has to sign in. */
async function personOf(
  { config, database }: ApiContext,
  { user }: FastifyRequest,
  asked: string | undefined,
): Promise<Person> {
  if (['open', 'none'].includes(accessMode(config))) {
    const wanted = asked ?? user?.email
    if (wanted) return findPerson(database, wanted)
    throw new UserError('Nobody signs in here: say who you are, as ?user= with your e-mail address or name.')
  }
  const email = user?.email ?? ''
  if (email === '') {
    const message = 'You signed in with a token or a name, which has no e-mail address: sign in as a person.'
    throw new UserError(message, { status: 403 })
  }
  if (asked !== undefined && asked.trim().toLowerCase() !== email.toLowerCase()) {
    throw new UserError('Everybody sees only their own page: leave user out.', { status: 403 })
  }
  return findPerson(database, email, { byEmailOnly: true })
}
