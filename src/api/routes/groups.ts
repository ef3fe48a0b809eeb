import { z } from 'zod'
import { writeGroups } from '../../control-plane/groups/group-file.ts'
import { createGroup, getGroup, listGroups, removeGroup, updateGroup } from '../../control-plane/groups/groups.ts'
import { importGroups } from '../../control-plane/groups/import-groups.ts'
import { setTarget, type TargetOwner, targetsOf } from '../../control-plane/groups/targets.ts'
import { requireProject } from '../../control-plane/groups/whole.ts'
import { UserError } from '../../errors.ts'
import { actorOf } from '../access/gate.ts'
import { inTurn, type Routes, sentAlready } from '../api.ts'
import { answers, success, tables } from '../contract/common.ts'
import {
  groupChanges,
  groupFile,
  groupFileResult,
  groupNamed,
  groupRecord,
  newGroup,
  targetBody,
  targetList,
  targetQuery,
} from '../contract/groups.ts'
import { unlessChanged } from '../contract/seen.ts'
import { done } from '../envelope.ts'

const tags = ['groups']

const readRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/groups',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Groups of projects',
        querystring: z.object({ format: z.enum(['json', 'csv']).default('json') }),
        response: tables(z.object({ groups: z.array(groupRecord).readonly() }), 'One line per project of a group.'),
      },
    },
    async ({ query }, reply) => {
      const groups = await listGroups(database)
      if (query.format === 'json') return { groups }
      return sentAlready(reply.type('text/csv; charset=utf-8').send(writeGroups(groups)))
    },
  )
  api.get(
    '/v1/groups/:group',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'One group of projects', params: groupNamed, response: answers(200, groupRecord, 404) },
    },
    ({ params }) => getGroup(database, params.group),
  )
}

const changeRoutes: Routes = (api, { database, heavy }) => {
  api.post(
    '/v1/groups',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: { tags, summary: 'Create a group of projects', body: newGroup, response: answers(201, groupRecord, 404) },
    },
    async (request, reply) => reply.code(201).send(await createGroup(database, request.body, actorOf(request))),
  )
  api.put(
    '/v1/groups',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Create and change groups from a CSV file; groups that it does not name stay',
        body: groupFile,
        response: answers(200, groupFileResult, 404),
      },
    },
    async (request) => {
      const lines = await heavy.run('readGroupFile', request.body.csv)
      return importGroups(database, lines, actorOf(request))
    },
  )
  api.patch(
    '/v1/groups/:group',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Change a group; what is left out stays as it is',
        params: groupNamed,
        headers: unlessChanged,
        body: groupChanges,
        response: answers(200, groupRecord, 404, 412),
      },
    },
    (request) => {
      const { params, body, headers } = request
      return updateGroup(database, params.group, body, headers['if-match'], actorOf(request))
    },
  )
  api.delete(
    '/v1/groups/:group',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Delete a group; its projects stay, and its groups move to the group around it',
        params: groupNamed,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await removeGroup(database, request.params.group, actorOf(request))
      return done()
    },
  )
}

function ownerOf({ project, group }: { project?: string | undefined; group?: string | undefined }): TargetOwner {
  if (project !== undefined && group === undefined) return { kind: 'project', name: project }
  if (group !== undefined && project === undefined) return { kind: 'group', name: group }
  throw new UserError('A target belongs to a project or to a group: name one of the two.')
}

const targetRoutes: Routes = (api, { database }) => {
  const listed = async (owner: TargetOwner) => {
    if (owner.kind === 'project') await requireProject(database, owner.name)
    return { targets: [...(await targetsOf(database, owner)).values()] }
  }
  api.get(
    '/v1/targets',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The targets of a project or group: its own, and those of the nearest group around it',
        querystring: targetQuery,
        response: answers(200, targetList, 404),
      },
    },
    ({ query }) => listed(ownerOf(query)),
  )
  api.put(
    '/v1/targets',
    {
      config: { least: 'admin', reach: 'body', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Set the target of a metric for a project or group, or take it away',
        body: targetBody,
        response: answers(200, targetList, 404),
      },
    },
    async (request) => {
      const { metric, value, ...named } = request.body
      const owner = ownerOf(named)
      await setTarget(database, owner, { metric, value }, actorOf(request))
      return listed(owner)
    },
  )
}

export const groupRoutes = inTurn(readRoutes, changeRoutes, targetRoutes)
