/** Reports each change of state of a traffic switch to everybody who gets messages about its project. */
import { selectRows } from '../control-plane/store.ts'
import { retrying } from '../database/write.ts'
import type { Logger } from '../log.ts'
import { alerts } from '../system/alerts.ts'
import { trafficJournal, trafficSwitches } from '../system/traffic.ts'
import type { AlertContext } from './alert-service.ts'
import { type AlertRow, targetOf } from './records.ts'
import { type Message, storeMessage } from './send.ts'

/** Older events are history and no message: the server was away, or has only just learnt to report switches. */
const NEWS_MS = 60 * 60_000
const AT_ONCE = 500
const TOLD_NOTES = new Set(['problem', 'alarm', 'gate-failed'])

interface Entry {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly plan: string
  readonly told_sequence: number
  readonly sequence: number
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly kind: string
  readonly effect: string
  readonly detail: string
}

export async function tellOfSwitches(
  context: AlertContext & { readonly log: Logger },
  now = new Date(),
): Promise<void> {
  const { kysely } = context.database
  const [journal, switches] = [trafficJournal.name, trafficSwitches.name]
  const entries = (await kysely
    .selectFrom(journal)
    .innerJoin(switches, `${switches}.id`, `${journal}.switch_id`)
    .whereRef(`${journal}.sequence`, '>', `${switches}.told_sequence`)
    .select([`${switches}.id`, `${switches}.name`, `${switches}.project`, `${switches}.plan`])
    .select([`${switches}.told_sequence`, `${journal}.sequence`, `${journal}.at`, `${journal}.actor`])
    .select([`${journal}.action`, `${journal}.kind`, `${journal}.effect`, `${journal}.detail`])
    .orderBy(`${journal}.switch_id`)
    .orderBy(`${journal}.sequence`)
    .limit(AT_ONCE)
    .execute()) as Entry[]
  if (entries.length === 0) return
  const rows = await selectRows(kysely, alerts, (query) => query.where('enable', '=', true).orderBy('id'))
  for (const own of Map.groupBy(entries, ({ id }) => id).values()) await tell(context, own, rows, now)
}

/** `told_sequence` moves together with the messages, so that only one of several servers sends them. */
async function tell(
  context: AlertContext & { readonly log: Logger },
  entries: readonly Entry[],
  rows: readonly AlertRow[],
  now: Date,
): Promise<void> {
  const { id, project, told_sequence } = entries[0]!
  const news = entries.filter((entry) => isTold(entry) && entry.at.getTime() > now.getTime() - NEWS_MS)
  const receivers = receiversOf(context, rows, project)
  await retrying(context.database, () =>
    context.database.transaction(async ({ kysely }) => {
      const { numUpdatedRows } = await kysely
        .updateTable(trafficSwitches.name)
        .set({ told_sequence: entries.at(-1)!.sequence })
        .where('id', '=', id)
        .where('told_sequence', '=', told_sequence)
        .executeTakeFirst()
      if (Number(numUpdatedRows) !== 1) return
      for (const entry of news)
        for (const { id: alert } of receivers) await storeMessage(kysely, alert, 'traffic', messageFor(entry), now)
    }),
  )
}

const isTold = ({ kind, effect }: Entry): boolean =>
  (kind === 'state' && effect !== 'draft') || (kind === 'note' && TOLD_NOTES.has(effect))

/** One receiver for each address, however many alerts use it. */
function receiversOf(
  { secrets, log }: AlertContext & { readonly log: Logger },
  rows: readonly AlertRow[],
  project: string,
): readonly AlertRow[] {
  const byAddress = new Map<string, AlertRow>()
  for (const row of rows) {
    if (row.project_name !== project && row.project_name !== '') continue
    try {
      const { url } = targetOf(row, secrets)
      if (!byAddress.has(url)) byAddress.set(url, row)
    } catch {
      log.warn({ alert: row.id }, 'the address of an alert cannot be read: enter it again')
    }
  }
  return [...byAddress.values()]
}

function messageFor({ id, name, project, sequence, at, actor, action, kind, effect, detail, plan }: Entry): Message {
  const what = kind === 'note' ? `${effect}: ${detail}` : effect === 'verified' ? stepWords(plan, detail) : effect
  return {
    id: `${id}-${sequence}`,
    type: 'traffic',
    text: `Traffic switch ${name}: ${what} (${action} by ${actor})`,
    switch: id,
    name,
    project,
    action,
    actor,
    kind,
    effect,
    detail,
    at: at.toISOString(),
  }
}

function stepWords(plan: string, detail: string): string {
  try {
    const { step } = JSON.parse(detail) as { step: number }
    const { steps } = JSON.parse(plan) as { steps: readonly { weights: { current: number; target: number } }[] }
    const { current, target } = steps[step]!.weights
    return `step ${step} of ${steps.length - 1} is in force, ${current}/${target}`
  } catch {
    return 'the step is in force'
  }
}
