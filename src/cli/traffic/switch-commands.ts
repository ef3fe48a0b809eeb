import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { EffectTimeout } from '../../../traffic/engine/bring-about.ts'
import { connect } from '../../../traffic/engine/connect.ts'
import { act, approve } from '../../../traffic/engine/engine.ts'
import type { Engine, Request } from '../../../traffic/engine/engine-types.ts'
import { journalSentence } from '../../../traffic/engine/journal-words.ts'
import { preview } from '../../../traffic/engine/preview.ts'
import { reverseSwitch } from '../../../traffic/engine/reverse.ts'
import { switchStatus } from '../../../traffic/engine/status.ts'
import {
  describeSwitch,
  findSwitch,
  getSwitch,
  journalOf,
  listSwitches,
  noSwitch,
  SwitchBusy,
  type SwitchRow,
} from '../../../traffic/engine/store.ts'
import { draftOf, editsOf, refuseEdits, submitPlan } from '../../../traffic/engine/submit-plan.ts'
import { planFromText } from '../../../traffic/lint/require-plan.ts'
import { TrafficError } from '../../../traffic/model/finding.ts'
import { ACTIONS, type Action, isOver } from '../../../traffic/model/state.ts'
import type { Database } from '../../database/database.ts'
import { guarded, print, printJson, readText } from './output.ts'
import { describeStatus } from './status-text.ts'

/** Opens the engine for a command and closes it afterwards. A command that only reads also says what holds without a database. */
export type WithEngine = (
  body: (engine: Engine) => Promise<void>,
  withoutDatabase?: () => Promise<void>,
) => Promise<void>

const isPlanFile = (subject: string): boolean => /\.ya?ml$|^-$/.test(subject)

/** A plan file starts its switch with prepare; with other actions it just names the switch. Any other text is an id or a name. */
async function switchOf(database: Database, action: Action, subject: string): Promise<SwitchRow> {
  if (!isPlanFile(subject)) return getSwitch(database, subject)
  const plan = planFromText(readText(subject))
  if (action === 'prepare') return submitPlan(database, plan, userInfo().username)
  const row = await getSwitch(database, plan.name)
  // A rollback uses the plan that was carried out, whatever the file says now.
  if (action !== 'rollback') refuseEdits(row, editsOf(row, plan))
  return row
}

async function show(engine: Engine, row: SwitchRow, isJson: boolean | undefined): Promise<void> {
  if (!isJson) return print(describeStatus(describeSwitch(row), await switchStatus(engine, row)))
  const { plan, ...rest } = describeSwitch(row)
  printJson({ ...rest, plan })
}

interface ActionFlags {
  reason?: string
  overrideGates?: boolean
  uncheckedDns?: boolean
  skipQuiet?: boolean
  acceptLive?: boolean
  directly?: boolean
  keepIngress?: boolean
  confirm?: string
  dryRun?: boolean
  wait?: boolean
  json?: boolean
}

const SUMMARY: Readonly<Record<Action, string>> = {
  prepare: 'create the target group, bind the target, attach it at 100/0 and verify',
  advance: 'go to the next step when dwell time and gates are passed',
  pause: 'hold the weights as they are',
  rollback: 'send everything back to the current cluster',
  dns: 'move the record, if the plan names its zone, and confirm that the host name leads to the target load balancer',
  cleanup: 'after the DNS switch: remove rule reference, binding and target group',
  abort: 'before any traffic has moved: remove what prepare made',
}

const actionCommand = (withEngine: WithEngine, action: Action): Command =>
  new Command(action)
    .description(SUMMARY[action])
    .argument('<switch>', 'plan file, id or name')
    .option('--reason <text>', 'why; needed to skip a check')
    .option('--override-gates', 'continue although gates are not passed')
    .option('--unchecked-dns', 'do not look up the host name')
    .option('--skip-quiet', 'do not wait for the quiet time')
    .option('--accept-live', 'start from the live annotation although it drifted')
    .option('--directly', 'advance changes the rules of the load balancer itself if the controller does not follow')
    .option('--keep-ingress', 'clean-up does not delete the current Ingress, whatever the plan says')
    .option('--confirm <name>', 'name of the plan, to confirm a deletion')
    .option('--dry-run', 'ask the API servers, change nothing')
    .option('--wait', 'repeat until the action may be carried out; with advance until all steps are done')
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, flags: ActionFlags) =>
        withEngine(
          (engine) => carryOut(engine, action, subject, flags),
          flags.dryRun ? () => previewNew(action, subject, flags) : undefined,
        ),
      ),
    )

async function carryOut(engine: Engine, action: Action, subject: string, flags: ActionFlags): Promise<void> {
  if (flags.dryRun) {
    const lines = await preview(engine, await previewed(engine.database, action, subject), { action, ...flags })
    return flags.json ? printJson(lines) : print(lines.join('\n'))
  }
  const row = await switchOf(engine.database, action, subject)
  const actor = userInfo().username
  const { dryRun: _dryRun, wait, json, ...rest } = flags
  const request: Request = { action, actor, ...rest }
  let after = await attempt(engine, row.id, request, wait)
  while (wait && action === 'advance' && after.state !== 'switched')
    after = await attempt(engine, row.id, { ...request, isRepeated: true }, wait)
  await show(engine, after, json)
}

/** Without a database there is no switch, so only the beginning of a plan can be looked at. */
async function previewNew(action: Action, subject: string, flags: ActionFlags): Promise<void> {
  if (!isPlanFile(subject)) throw noSwitch(subject)
  const plan = planFromText(readText(subject))
  if (action !== 'prepare') throw noSwitch(plan.name)
  const lines = await preview({ connect }, draftOf(plan), { action, ...flags })
  flags.json ? printJson(lines) : print(lines.join('\n'))
}

/** A dry run stores nothing, not even a draft. */
async function previewed(database: Database, action: Action, subject: string): Promise<SwitchRow> {
  if (action !== 'prepare' || !isPlanFile(subject)) return switchOf(database, action, subject)
  const plan = planFromText(readText(subject))
  const row = await findSwitch(database, plan.name)
  return row === undefined || isOver(row.state) || row.state === 'draft' ? draftOf(plan) : row
}

/** With `--wait`, a gate that has merely not passed yet is asked again. */
async function attempt(
  engine: Engine,
  id: string,
  request: Request,
  isPatient: boolean | undefined,
): Promise<SwitchRow> {
  let told = ''
  const progress = (text: string) => {
    // During a rollback, users want to know what it waits for.
    if ((isPatient || request.action === 'rollback') && text !== told) console.error(`weir: ${text}`)
    told = text
  }
  let wanted = request
  for (;;) {
    try {
      return await act({ ...engine, progress }, id, wanted)
    } catch (error) {
      const { state } = await getSwitch(engine.database, id)
      const isBusy = error instanceof SwitchBusy
      const isPending = isBusy || (error instanceof EffectTimeout && error.effect === 'dns-ttl')
      const mayPass =
        isPending ||
        (error instanceof TrafficError && error.trouble === 'gate' && !['paused', 'rolled-back'].includes(state))
      if (!isPatient || !mayPass) throw error
      if (!isBusy) wanted = { ...request, isRepeated: true }
      progress(error.message)
      await sleep(engine.pollMs * 2)
    }
  }
}

const status = (withEngine: WithEngine): Command =>
  new Command('status')
    .description('all switches, or one with its journal')
    .argument('[switch]', 'id or name')
    .option('--json', 'as JSON')
    .action(
      guarded((subject: string | undefined, { json }: { json?: boolean }) =>
        withEngine(
          async (engine) => {
            const { database } = engine
            if (subject === undefined) return showAll(engine, await listSwitches(database), json)
            const row = await getSwitch(database, subject)
            const journal = await journalOf(database, row.id)
            const live = await switchStatus(engine, row)
            const described = describeSwitch(row)
            if (json) return printJson({ ...described, live, journal })
            print(describeStatus(described, live))
            for (const entry of journal)
              print(`  ${entry.at?.toISOString()} ${entry.actor}: ${journalSentence(entry, described.plan)}`)
          },
          noneOf(subject, json),
        ),
      ),
    )

async function showAll(
  engine: Engine | undefined,
  rows: readonly SwitchRow[],
  isJson: boolean | undefined,
): Promise<void> {
  if (isJson) return printJson(rows.map(describeSwitch))
  if (engine === undefined || rows.length === 0) return print(NO_SWITCH)
  const all = await Promise.all(
    rows.map(async (row) => describeStatus(describeSwitch(row), await switchStatus(engine, row))),
  )
  print(all.join('\n'))
}

const NO_SWITCH =
  'There is no traffic switch yet. Write a plan: npx weir traffic init; then begin: npx weir traffic prepare PLAN. A plan can also be imported from two clusters.'

const noneOf = (subject: string | undefined, isJson: boolean | undefined) => async (): Promise<void> => {
  if (subject !== undefined) throw noSwitch(subject)
  await showAll(undefined, [], isJson)
}

const approval = (withEngine: WithEngine): Command =>
  new Command('approve')
    .description('approve the present step')
    .argument('<switch>', 'id or name')
    .option('--reason <text>', 'what you checked')
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, { reason, json }: { reason?: string; json?: boolean }) =>
        withEngine(async (engine) => {
          const { id } = await getSwitch(engine.database, subject)
          await show(engine, await approve(engine, id, userInfo().username, reason), json)
        }),
      ),
    )

const reverse = (withEngine: WithEngine): Command =>
  new Command('reverse')
    .description('a new draft in the other direction')
    .argument('<switch>', 'id or name')
    .option(
      '--source-security-group <id>',
      'security group of the load balancer that traffic leaves; default: read from AWS',
    )
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, { sourceSecurityGroup, json }: { sourceSecurityGroup?: string; json?: boolean }) =>
        withEngine(async (engine) =>
          show(
            engine,
            await reverseSwitch(
              engine,
              await getSwitch(engine.database, subject),
              userInfo().username,
              sourceSecurityGroup,
            ),
            json,
          ),
        ),
      ),
    )

/** Commands that work on switches in the database. */
export const switchCommands = (withEngine: WithEngine): readonly Command[] => [
  ...ACTIONS.map((action) => actionCommand(withEngine, action)),
  ...[approval, reverse, status].map((command) => command(withEngine)),
]
