/** The weekly message: what changed, why, and what needs attention, in the sentences of the answer. */
import { randomUUID } from 'node:crypto'
import { counted } from '../basics/counted.ts'
import { nextTick } from '../control-plane/blueprints/cron.ts'
import { selectRows, updateRows } from '../control-plane/store.ts'
import { retrying } from '../database/write.ts'
import { messageOf } from '../errors.ts'
import type { Answer } from '../metrics/answer/answer.ts'
import { textOf } from '../metrics/answer/say.ts'
import { keySentence, missingSentences } from '../metrics/answer/sentence.ts'
import { changeLeadTime } from '../metrics/definitions/change-lead-time.ts'
import { alerts } from '../system/alerts.ts'
import { projects } from '../system/projects.ts'
import type { FollowContext } from './alert-service.ts'
import { answerAbout } from './answer-about.ts'
import { linkToKeys } from './links.ts'
import { type AlertRow, cronOf } from './records.ts'
import { type Message, storeMessage } from './send.ts'

const WEEK_MS = 7 * 86_400_000
/** Nobody would read about more projects than these. */
const MOST_PROJECTS = 20
const MOST_CAUSES = 3

const dayOf = (date: Date) => date.toISOString().slice(0, 10)

/** One sentence for each key, and one for each reason for which nothing tells a key. */
function sentencesOf({ sentence, keys }: Answer): string[] {
  const others = keys.filter(({ metric }) => metric !== changeLeadTime.name)
  const told = others.filter(({ now }) => now.value !== null)
  // The first sentence of the answer is about the lead time, or says that there is nothing to say.
  const isTold = keys.some(({ now }) => now.value !== null)
  const rest = isTold ? [...told.map(keySentence), ...missingSentences(others)] : []
  return [...sentence.slice(0, 1), ...rest].map(textOf)
}

/** The findings that a reader of the sentences does not know yet. */
function findingsOf({ keys, findings, where, look }: Answer): string[] {
  const told = [
    ...(keys.some(({ target }) => target) ? [findings.keys] : []),
    ...(where.stages.some(({ share }) => share !== null) ? [findings.where] : []),
    ...(look.some(({ heaviest }) => heaviest.length > 0) ? [findings.look] : []),
  ]
  return told.map((finding) => `${textOf(finding)}.`)
}

const partOf = (project: string, answer: Answer) => ({
  project,
  sentences: sentencesOf(answer),
  findings: findingsOf(answer),
  attention: answer.attention.slice(0, MOST_CAUSES).map(({ sentence, remedy }) => ({ sentence, remedy })),
  keys: answer.keys.map(({ metric, title, unit, now, before, change }) => ({
    metric,
    title,
    unit,
    value: now.value,
    inWords: now.inWords,
    before: before.value,
    change: change && { amount: change.amount, mayBeChance: change.mayBeChance, direction: change.direction },
  })),
})
type Part = ReturnType<typeof partOf>

const linesOf = ({ sentences, findings, attention }: Part): string[] =>
  [...sentences, ...findings, ...attention.map(({ sentence, remedy }) => `Needs attention: ${sentence} ${remedy}`)].map(
    (line) => `• ${line}`,
  )

export async function digestOf(
  context: Pick<FollowContext, 'database' | 'plugins' | 'publicUrl'>,
  project: string,
  to: Date,
): Promise<Message> {
  const all = project
    ? [project]
    : (await selectRows(context.database.kysely, projects, (query) => query.orderBy('name'))).map(({ name }) => name)
  const from = new Date(to.getTime() - WEEK_MS)
  const own: Part[] = []
  for (const name of all.slice(0, MOST_PROJECTS)) {
    own.push(partOf(name, await answerAbout(context, name, { from, to })))
  }
  const head = `How ${project || 'all projects'} did, ${dayOf(from)} to ${dayOf(to)}`
  const more = all.length - own.length
  const text = [
    `*${head}*`,
    ...own.flatMap((part) => [...(project ? [] : [`*${part.project}*`]), ...linesOf(part)]),
    ...(more > 0 ? [`… and ${counted(more, 'more project')}: create a digest for each that matters.`] : []),
    ...(all.length === 0 ? ['There are no projects yet.'] : []),
  ].join('\n')
  return {
    id: randomUUID(),
    type: 'digest' as const,
    text,
    at: to,
    from,
    to,
    project: project || null,
    projects: own,
    link: linkToKeys(context.publicUrl, project),
  }
}

/** Makes the digests that have become due since the last one. Several that were missed become one. */
export async function makeDueDigests(context: FollowContext, now = new Date()): Promise<void> {
  const rows = await selectRows(context.database.kysely, alerts, (query) =>
    query.where('kind', '=', 'digest').where('enable', '=', true).orderBy('id'),
  )
  for (const row of rows) {
    const tick = nextTick(cronOf(row), row.looked_at ?? row.created_at)
    if (!tick || tick > now) continue
    await makeDigest(context, row, now).catch((error) => {
      const known = context.database.explain(error) ?? error
      context.log.warn({ alert: row.id }, `a digest could not be created and will be tried again: ${messageOf(known)}`)
    })
  }
}

async function makeDigest(context: FollowContext, row: AlertRow, now: Date): Promise<void> {
  const { database } = context
  const message = await digestOf(context, row.project_name, now)
  await retrying(database, () =>
    database.transaction(async ({ kysely: inside }) => {
      const seen = { id: row.id, version: row.version }
      const changes = { looked_at: now, problem: '', version: row.version + 1 }
      if ((await updateRows(inside, alerts, seen, changes)) === 1)
        await storeMessage(inside, row.id, 'digest', message, now)
    }),
  )
}
