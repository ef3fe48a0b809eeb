import { z } from 'zod'
import { LONGEST_GROUP_NAME } from '../../control-plane/groups/groups.ts'
import { LONGEST_PROJECT_NAME } from '../../control-plane/projects/projects.ts'
import { bounded, example } from '../../plugin-kit/spec/request-values.ts'
import { time, timeOrNull } from './common.ts'

const groupName = bounded(LONGEST_GROUP_NAME)
const projectNames = z.array(bounded(255).min(1)).max(10_000)
const fields = {
  name: groupName,
  description: bounded(10_000),
  parent: groupName.nullable().meta({ description: 'The group that contains it. Null: none.' }),
  projects: projectNames.meta({ description: 'Those directly in it; replaces what it had.' }),
}
export const groupChanges = z.strictObject(fields).partial()
export const newGroup = z
  .strictObject({ ...groupChanges.shape, name: fields.name })
  .meta(example({ name: 'Web', description: 'All that customers see.', projects: [] }))
export const groupNamed = z.object({ group: groupName.min(1) })
export const groupRecord = z
  .object({
    name: z.string(),
    description: z.string(),
    parent: z.string().nullable(),
    within: z.array(z.string()).readonly().meta({ description: 'The groups around it, from the nearest outwards.' }),
    projects: z.array(z.string()).readonly().meta({ description: 'Directly in it.' }),
    groups: z.array(z.string()).readonly().meta({ description: 'Directly in it.' }),
    allProjects: z.int().meta({ description: 'How many projects are in it, or in groups in it.' }),
    updatedAt: time,
  })
  .meta({ id: 'Group', description: 'A group of projects.' })
export const groupFile = z
  .strictObject({
    csv: bounded(2_000_000).meta({ description: 'Columns `group`, `parent` and `project`; one line per project.' }),
  })
  .meta(example({ csv: 'group,parent,project\nCompany,,\nWeb,Company,\n' }))
export const groupFileResult = z.object({
  created: z.array(z.string()).readonly(),
  changed: z.array(z.string()).readonly(),
})

const owner = {
  project: bounded(LONGEST_PROJECT_NAME).min(1).optional(),
  group: groupName.min(1).optional(),
}
export const targetQuery = z.object(owner)
export const targetBody = z
  .strictObject({
    ...owner,
    metric: bounded(100),
    value: z.number().nullable().meta({
      description: 'In the unit of the metric: 0.15 for 15 %, minutes for times. Null takes the target away.',
    }),
  })
  .meta(example({ project: 'shop', metric: 'change-lead-time', value: null }))
const targetRecord = z.object({
  metric: z.string(),
  title: z.string(),
  unit: z.string(),
  value: z.number(),
  inWords: z.string(),
  inheritedFrom: z.string().nullable().meta({ description: 'The group that it comes from. Null: it is set here.' }),
  setBy: z.string(),
  setAt: time,
})
export const targetList = z
  .object({ targets: z.array(targetRecord).readonly() })
  .meta({ id: 'Targets', description: 'The targets that hold, own and inherited.' })

const change = { id: z.string(), title: z.string(), url: z.string(), repository: z.string() }
export const mineQuery = z.object({
  user: bounded(255).optional().meta({
    description: 'Where nobody signs in: e-mail address, id or name of the person, or name of an account.',
  }),
})
export const mineRecord = z
  .object({
    name: z.string(),
    accounts: z.array(z.string()).readonly(),
    waitsForMe: z
      .array(
        z.object({
          ...change,
          author: z.string(),
          since: time.meta({ description: 'When it was opened: no source tells when the review was asked for.' }),
          isDraft: z.boolean(),
        }),
      )
      .readonly()
      .meta({ description: 'Reviews that were asked of you and that you have not answered.' }),
    waiting: z
      .array(
        z.object({
          ...change,
          since: time,
          isDraft: z.boolean(),
          answeredAt: timeOrNull.meta({ description: 'When somebody else answered first.' }),
          waitsFor: z.array(z.string()).readonly().meta({ description: 'Who was asked and has not answered.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Your open pull requests.' }),
    onTheWay: z
      .array(
        z.object({
          ...change,
          mergedAt: time,
          project: z.string().nullable().meta({ description: 'The project in which it was deployed first.' }),
          deployedAt: timeOrNull.meta({ description: 'Null: not in production yet.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Your changes merged or deployed in the last 30 days.' }),
    incidents: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          url: z.string(),
          createdAt: timeOrNull,
          resolvedAt: timeOrNull,
          isAssigned: z.boolean().meta({ description: 'It is assigned to you.' }),
          changes: z
            .array(z.object({ id: z.string(), title: z.string(), url: z.string() }))
            .readonly()
            .meta({ description: 'Your changes in the deployment that it is attributed to.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Open ones, and those of the last 30 days.' }),
  })
  .meta({ id: 'Mine', description: 'The work of one person, for that person. Facts only.' })
export const personalViewsRecord = z.object({ isOn: z.boolean() })
