import { Command } from 'commander'
import { askAnswer } from '../api/ask-answer.ts'
import { answerQuery } from '../api/contract/answer.ts'
import { byName } from '../basics/by-name.ts'
import { UserError } from '../errors.ts'
import { plugins } from '../plugins/index.ts'
import { answerLines } from './answer-text.ts'
import { createRuntime, withDatabase } from './runtime.ts'

interface Options {
  readonly team?: string
  readonly group?: string
  readonly all?: boolean
  readonly from?: string
  readonly to?: string
  readonly environment?: string
  readonly json?: boolean
}

export const answer = new Command('answer')
  .description('print how a project does: what changed, the five keys, where the time goes, what to look at, how sure')
  .argument('[project]', 'the name of the project')
  .option('--team <name>', 'of this team, in the project or in all')
  .option('--group <name>', 'of the projects of this group')
  .option('--all', 'of all projects')
  .option('--from <day>', 'the first day, such as 2026-01-31; by default six months before the last')
  .option('--to <day>', 'the last day; by default today')
  .option('--environment <name>', 'another environment than PRODUCTION')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nThe range is compared with the period of the same length before it.')
  .action(async (project: string | undefined, { json, ...asked }: Options) => {
    const query = answerQuery.safeParse(byName({ ...asked, ...(project !== undefined && { project }) }))
    if (!query.success) {
      const [issue] = query.error.issues
      throw new UserError(`--${String(issue?.path[0] ?? 'project')} ${issue?.message ?? 'cannot be read'}.`)
    }
    await withDatabase(
      createRuntime(),
      async (database) => {
        const read = await askAnswer({ database, plugins }, query.data)
        if (json) console.log(JSON.stringify(read))
        else for (const line of answerLines(read)) console.log(line)
      },
      () => {},
    )
  })
