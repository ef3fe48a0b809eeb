/**
 * A board shows the issues that its filter finds. Runs that ask only for changes miss issues that a changed filter newly includes
 * or excludes, so after a change of the filter everything is collected again.
 */
import { UserError } from '../../errors.ts'
import {
  type ApiClient,
  type ExtraStep,
  forgetScope,
  knowing,
  type SourceTask,
  taskConfig,
} from '../../plugin-kit/index.ts'
import { boards } from './kit.ts'

/** A filter may be private to somebody else, although its board can be read. */
const INVISIBLE = [400, 403, 404]

async function filterOf({ context, signal, log }: SourceTask, client: ApiClient): Promise<string | undefined> {
  const ask = async (path: string) => (await client.send({ path, accept: INVISIBLE }, signal)).body
  const { filter } = (await ask(`agile/1.0/board/${context.scope.board_id}/configuration`)) ?? {}
  const { jql } = (filter?.id && (await ask(`api/2/filter/${filter.id}`))) || {}
  if (jql === undefined) log?.('the filter of the board cannot be seen, and is not compared with the last run')
  return jql
}

async function remember({ database, context }: SourceTask, jql: string): Promise<void> {
  await knowing(database.kysely, boards)
    .updateTable(boards.name)
    .set({ jql })
    .where('connection_id', '=', context.connectionId)
    .where('board_id', '=', context.scope.board_id)
    .execute()
}

const changed = ({ context }: SourceTask, when: string) =>
  `The filter of board ${context.scope.name || context.scope.board_id} was changed ${when}`
const REMEDY = 'Run with full sync once, or set JIRA_JQL_AUTO_FULL_REFRESH=true to have that done at each change.'

export const boardFilterBegin: ExtraStep = {
  name: 'collectBoardFilterBegin',
  domainTypes: ['TICKET'],
  async run(task, client) {
    const jql = await filterOf(task, client)
    const { jql: known } = task.context.scope
    if (jql === undefined || jql === known) return 1
    if (known) {
      const sentence = changed(task, 'since the last run')
      if (!task.fullSync && !taskConfig().jiraFullRefresh) throw new UserError(`${sentence}. ${REMEDY}`)
      task.log?.(`${sentence}: everything is collected again`)
      // This is stored, so that the next run continues with it if this one is interrupted.
      await forgetScope(task.database, task.plugin, task.params)
    }
    await remember(task, jql)
    return 1
  },
}

export const boardFilterEnd: ExtraStep = {
  name: 'collectBoardFilterEnd',
  domainTypes: ['TICKET'],
  async run(task, client) {
    const jql = await filterOf(task, client)
    const { jql: known } = task.context.scope
    if (jql === undefined || !known || jql === known) return 1
    const sentence = changed(task, 'while this run collected')
    if (!taskConfig().jiraFullRefresh) throw new UserError(`${sentence}. ${REMEDY}`)
    task.log?.(`${sentence}: the next run collects everything again`)
    return 1
  },
}
