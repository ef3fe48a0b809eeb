import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Database } from '../../database/database.ts'
import { act, approve, type Engine, type Request } from '../../traffic/engine.ts'
import { TrafficError } from '../../traffic/finding.ts'
import { preview } from '../../traffic/preview.ts'
import { planFromText } from '../../traffic/require-plan.ts'
import { reverseSwitch } from '../../traffic/reverse.ts'
import { ACTIONS, type Action } from '../../traffic/state.ts'
import { describeSwitch, getSwitch, journalOf, listSwitches, type SwitchRow } from '../../traffic/store.ts'
import { submitPlan } from '../../traffic/submit-plan.ts'
import { guarded, print, printJson, readText } from './output.ts'

const POLL_MS = 2_000
/** Opens what a command works on, and closes it afterwards. */
export type WithEngine = (body: (engine: Engine) => Promise<void>) => Promise<void>

/** A plan file starts or names its switch; otherwise the text is an id or a name. */
const switchOf = async (database: Database, subject: string): Promise<SwitchRow> =>
  /\.ya?ml$|^-$/.test(subject)
    ? submitPlan(database, planFromText(readText(subject)), userInfo().username)
    : getSwitch(database, subject)

const show = (row: SwitchRow, isJson: boolean | undefined): void => {
  const { plan, ...rest } = describeSwitch(row)
  if (isJson) {
    printJson({ ...rest, plan })
    return
  }
  const weights = plan.steps[row.step]?.weights
  const step = weights ? `, step ${row.step} of ${plan.steps.length - 1} (${weights.current}/${weights.target})` : ''
  const problem = rest.problem ? `\n  problem: ${rest.problem}` : ''
  print(`${row.id}: ${row.state}${step}${problem}\n  possible now: ${rest.actions.join(', ') || 'nothing'}`)
}

interface ActionFlags {
  reason?: string
  overrideGates?: boolean
  uncheckedDns?: boolean
  skipQuiet?: boolean
  acceptLive?: boolean
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
  dns: 'confirm that the host name leads to the target load balancer',
  cleanup: 'after the DNS switch: remove rule reference, binding and target group',
  abort: 'before any traffic has moved: remove what prepare made',
}

const actionCommand = (withEngine: WithEngine, action: Action): Command =>
  new Command(action)
    .description(SUMMARY[action])
    .argument('<switch>', 'plan file, id or name')
    .option('--reason <text>', 'why; needed to skip a check')
    .option('--override-gates', 'go on although gates are not passed')
    .option('--unchecked-dns', 'do not look up the host name')
    .option('--skip-quiet', 'do not wait for the quiet time')
    .option('--accept-live', 'start from the live annotation although it drifted')
    .option('--confirm <name>', 'name of the plan, to confirm a deletion')
    .option('--dry-run', 'ask the API servers, change nothing')
    .option('--wait', 'repeat until the action may be carried out; with advance until all steps are done')
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, flags: ActionFlags) =>
        withEngine((engine) => carryOut(engine, action, subject, flags)),
      ),
    )

async function carryOut(engine: Engine, action: Action, subject: string, flags: ActionFlags): Promise<void> {
  const row = await switchOf(engine.database, subject)
  const actor = userInfo().username
  if (flags.dryRun) {
    const lines = await preview(engine, row, { action, acceptLive: flags.acceptLive })
    return flags.json ? printJson(lines) : print(lines.join('\n'))
  }
  if (action === 'rollback' && row.state === 'cleaned-up')
    return show(await reverseSwitch(engine, row, actor), flags.json)
  const { dryRun: _dryRun, wait, json, ...rest } = flags
  const request: Request = { action, actor, ...rest }
  let after = await attempt(engine, row.id, request, wait)
  while (wait && action === 'advance' && after.state !== 'switched')
    after = await attempt(engine, row.id, request, wait)
  show(after, json)
}

/** With `--wait`, a gate that is merely not passed yet is asked again. */
async function attempt(
  engine: Engine,
  id: string,
  request: Request,
  isPatient: boolean | undefined,
): Promise<SwitchRow> {
  for (;;) {
    try {
      return await act(engine, id, request)
    } catch (error) {
      const { state } = await getSwitch(engine.database, id)
      const mayPass =
        error instanceof TrafficError && error.trouble === 'gate' && !['paused', 'rolled-back'].includes(state)
      if (!isPatient || !mayPass) throw error
      await sleep(POLL_MS)
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
        withEngine(async ({ database }) => {
          if (subject === undefined) {
            const rows = await listSwitches(database)
            if (json) printJson(rows.map(describeSwitch))
            else for (const row of rows) show(row, false)
            return
          }
          const row = await getSwitch(database, subject)
          const journal = await journalOf(database, row.id)
          if (json) return printJson({ ...describeSwitch(row), journal })
          show(row, false)
          print(
            journal
              .map(
                ({ at, actor, action, kind, effect, detail }) =>
                  `  ${at?.toISOString()} ${actor} ${action} ${kind} ${effect} ${detail}`,
              )
              .join('\n'),
          )
        }),
      ),
    )

const approval = (withEngine: WithEngine): Command =>
  new Command('approve')
    .description('pass the approval gate of the step in force')
    .argument('<switch>', 'id or name')
    .option('--reason <text>', 'what was looked at')
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, { reason, json }: { reason?: string; json?: boolean }) =>
        withEngine(async (engine) => {
          const { id } = await getSwitch(engine.database, subject)
          show(await approve(engine, id, userInfo().username, reason), json)
        }),
      ),
    )

const reverse = (withEngine: WithEngine): Command =>
  new Command('reverse')
    .description('a new draft in the other direction')
    .argument('<switch>', 'id or name')
    .option('--source-security-group <id>', 'of the load balancer that is left; read from AWS when missing')
    .option('--json', 'the switch as JSON')
    .action(
      guarded((subject: string, { sourceSecurityGroup, json }: { sourceSecurityGroup?: string; json?: boolean }) =>
        withEngine(async (engine) =>
          show(
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

/** What works on switches in the database. */
export const switchCommands = (withEngine: WithEngine): readonly Command[] => [
  ...ACTIONS.map((action) => actionCommand(withEngine, action)),
  ...[approval, reverse, status].map((command) => command(withEngine)),
]
