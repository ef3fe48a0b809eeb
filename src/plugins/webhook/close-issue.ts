import { UserError } from '../../errors.ts'
import { fieldName, type Inbox, knowing } from '../../plugin-kit/index.ts'
import issueEntity, { fields, issues } from './entities/issues.ts'

/** A message that closes an issue contains little. The whole issue is kept as it is then, so that its rows can be made again from it. */
export async function closeIssue(inbox: Inbox, issueKey: string, url: string): Promise<void> {
  const { connectionId, database } = inbox
  const issue = await knowing(database.kysely, issues)
    .selectFrom(issues.name)
    .selectAll()
    .where('connection_id', '=', connectionId)
    .where('issue_key', '=', issueKey)
    .executeTakeFirst()
  if (!issue)
    throw new UserError(`Connection ${connectionId} knows no issue ${issueKey}: send it first.`, { status: 404 })
  const now = new Date()
  const known = Object.fromEntries(
    Object.entries(issue).flatMap(([name, value]) => (name in fields ? [[fieldName(name), value]] : [])),
  )
  const resolutionDate = known.resolutionDate ?? now
  await inbox.take(issueEntity, { ...known, status: 'DONE', originalStatus: '', resolutionDate, updatedDate: now }, url)
}
