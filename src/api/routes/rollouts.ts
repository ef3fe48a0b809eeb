import { policyOfProject } from '../../control-plane/projects/project-policy.ts'
import { selectRows } from '../../control-plane/store.ts'
import { numberChanges } from '../../domain/rollouts.ts'
import type { ChangedKey } from '../../metrics/calculate/number-changes.ts'
import { rolloutsIn } from '../../metrics/policy/policy.ts'
import { readRollouts } from '../../metrics/policy/rollout-list.ts'
import { checkRules } from '../../metrics/policy/rollout-rules.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { changesQuery, changesRecord, rolloutsQuery, rolloutsRecord } from '../contract/rollouts.ts'
import { requireProject } from '../metric-filter.ts'

const tags = ['metrics']

export const rolloutRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/rollouts',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary:
          'The rollouts that more than one row tells of: which row stands for each, and why the others belong to it',
        querystring: rolloutsQuery,
        response: answers(200, rolloutsRecord, 404),
      },
    },
    async ({ query: { project, page, pageSize: limit } }) => {
      await requireProject(database, project)
      const policy = await policyOfProject(database, project)
      const rules = await checkRules(database.kysely, policy.rolloutRules ?? [])
      return {
        project,
        policy: rolloutsIn(policy),
        rules: rules.map(({ rule, problem }) => ({ ...rule, problem })),
        ...(await readRollouts(database, { project, policy }, { limit, offset: (page - 1) * limit })),
      }
    },
  )
  api.get(
    '/v1/number-changes',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Where an update of Weir changed the four keys of a project: since when, why, before and after',
        querystring: changesQuery,
        response: answers(200, changesRecord, 404),
      },
    },
    async ({ query: { project } }) => {
      await requireProject(database, project)
      const rows = await selectRows(database.kysely, numberChanges, (query) =>
        query.where('project_name', '=', project).where('at', 'is not', null).orderBy('at', 'desc'),
      )
      return {
        changes: rows.map(({ name, at, reason, keys }) => ({
          name,
          at: at as Date,
          reason,
          keys: (keys ?? []) as ChangedKey[],
        })),
      }
    },
  )
}
