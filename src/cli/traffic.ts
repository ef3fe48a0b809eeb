import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { parse } from 'yaml'
import type { Database } from '../database/database.ts'
import { messageOf } from '../errors.ts'
import { chart } from '../traffic/chart.ts'
import { engineOn } from '../traffic/connect.ts'
import { describeDifference, diffManifests } from '../traffic/diff.ts'
import { act, approve, type Engine, preview, type Request } from '../traffic/engine.ts'
import { describeFinding, errorsIn, type Finding, TrafficError, type Trouble } from '../traffic/finding.ts'
import { initialPlan, PRESETS } from '../traffic/init.ts'
import { lintManifests } from '../traffic/lint-manifests.ts'
import { lintPlan } from '../traffic/lint-plan.ts'
import { type Plan, parsePlan } from '../traffic/plan.ts'
import { joinFiles, phasesOf, type RenderedFile, renderPhase } from '../traffic/render.ts'
import { reverseSwitch } from '../traffic/reverse.ts'
import { simulate } from '../traffic/simulate.ts'
import { ACTIONS, type Action } from '../traffic/state.ts'
import { describeSwitch, getSwitch, journalOf, listSwitches, type SwitchRow } from '../traffic/store.ts'
import { planFromText, submitPlan } from '../traffic/submit-plan.ts'
import { createRuntime, withDatabase } from './runtime.ts'

/** Documented in docs/traffic.md; pipelines depend on them. */
const EXIT: Readonly<Record<Trouble, number>> = { invalid: 2, gate: 3, conflict: 4, timeout: 5 }

const print = (text: string): void => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))
const readText = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new TrafficError('invalid', `Cannot read ${file}: ${messageOf(error)}`)
  }
}

/** Trouble of ours keeps its lines and gets its own exit code; the rest is the main program's. */
const guarded =
  <Arguments extends unknown[]>(body: (...args: Arguments) => unknown) =>
  async (...args: Arguments): Promise<void> => {
    try {
      await body(...args)
    } catch (error) {
      if (!(error instanceof TrafficError)) throw error
      const isJson = args.some((each) => (each as { json?: unknown } | undefined)?.json === true)
      if (isJson) printJson({ error: error.message, ...error.data })
      console.error(`weir: ${error.message}`)
      process.exitCode = EXIT[error.trouble]
    }
  }

const isPlanText = (text: string): boolean => /^apiVersion:\s*["']?traffic\//m.test(text)

const lint = new Command('lint')
  .description('check plans, or any Ingress and TargetGroupBinding manifests')
  .argument('<file...>', 'YAML files; - is standard input')
  .option('--against <file>', 'live or saved manifests, to notice a change of the group name')
  .option('--json', 'findings as JSON')
  .action(
    guarded((files: string[], options: { against?: string; json?: boolean }) => {
      const live = options.against === undefined ? '' : readText(options.against)
      const findings: (Finding & { file: string })[] = files.flatMap((file) =>
        lintText(readText(file), live).map((item) => ({ ...item, file })),
      )
      if (options.json) printJson(findings)
      else
        print(
          [
            ...findings.map((item) => `${item.file}: ${describeFinding(item)}`),
            `${errorsIn(findings).length} errors, ${findings.length - errorsIn(findings).length} warnings`,
          ].join('\n'),
        )
      if (errorsIn(findings).length > 0) process.exitCode = EXIT.invalid
    }),
  )

function lintText(text: string, live: string): readonly Finding[] {
  if (!isPlanText(text)) return lintManifests(text, live)
  const { plan, findings } = parsePlan(text)
  return plan === undefined ? findings : lintPlan(plan)
}

const init = new Command('init')
  .description('print a plan to start from')
  .argument('<name>', 'name of the plan')
  .option('--preset <name>', `how to split the move: ${Object.keys(PRESETS).join(', ')}`, 'standard')
  .action(guarded((name: string, { preset }: { preset: string }) => print(initialPlan(name, preset))))

interface RenderFlags {
  phase?: string
  targetGroupArn?: string
  currentIngress?: string
  targetIngress?: string
  out?: string
  file?: string
  json?: boolean
}

const ingressFrom = (file: string | undefined) => (file === undefined ? undefined : parse(readText(file)))
const renderWith = (plan: Plan, phase: string, flags: RenderFlags): readonly RenderedFile[] =>
  renderPhase(plan, phase, {
    targetGroupArn: flags.targetGroupArn,
    currentIngress: ingressFrom(flags.currentIngress),
    targetIngress: ingressFrom(flags.targetIngress),
  })

const rendering = (command: Command): Command =>
  command
    .option('--target-group-arn <arn>', 'ARN of the auxiliary target group, when the plan has none')
    .option('--current-ingress <file>', 'edit this Ingress instead of the one that the plan describes')
    .option('--target-ingress <file>', 'the same for the target cluster')
    .option('--json', 'as JSON')

const render = rendering(
  new Command('render').description('manifests and commands of one phase, in the order to apply them'),
)
  .argument('<plan>', 'plan file')
  .option('--phase <phase>', 'target-group, step-0 …, rollback, cleanup', 'step-0')
  .option('--file <name>', 'only this file, for kubectl apply -f -')
  .option('--out <folder>', 'write the files of every phase into this folder')
  .action(
    guarded((file: string, flags: RenderFlags) => {
      const plan = planFromText(readText(file))
      if (flags.out !== undefined) return writePhases(plan, flags.out, flags)
      const files = renderWith(plan, flags.phase!, flags)
      if (flags.file === undefined) return flags.json ? printJson(files) : print(joinFiles(files))
      const only = files.find(({ path }) => path === flags.file)
      if (only === undefined)
        throw new TrafficError(
          'invalid',
          `Phase ${flags.phase} has no file ${flags.file}; it has ${files.map(({ path }) => path).join(', ')}.`,
        )
      print(only.content)
    }),
  )

function writePhases(plan: Plan, folder: string, flags: RenderFlags): void {
  for (const phase of phasesOf(plan)) {
    mkdirSync(join(folder, phase), { recursive: true })
    for (const { path, content } of renderWith(plan, phase, flags)) writeFileSync(join(folder, phase, path), content)
  }
}

const manifestsOf = (files: readonly RenderedFile[]): string =>
  files.flatMap(({ path, content }) => (path.endsWith('.yaml') ? [content] : [])).join('---\n')

const diff = rendering(
  new Command('diff').description('what differs between two phases, or between a phase and a saved manifest'),
)
  .argument('<plan>', 'plan file')
  .option('--from <phase>', 'phase before', 'step-0')
  .option('--to <phase>', 'phase after', 'step-1')
  .option('--against <file>', 'live or saved manifests instead of --from')
  .action(
    guarded((file: string, flags: RenderFlags & { from: string; to: string; against?: string }) => {
      const plan = planFromText(readText(file))
      const after = manifestsOf(renderWith(plan, flags.to, flags))
      const before =
        flags.against === undefined ? manifestsOf(renderWith(plan, flags.from, flags)) : readText(flags.against)
      const differences = diffManifests(before, after)
      if (flags.json) printJson(differences)
      else print(differences.map(describeDifference).join('\n') || 'no difference')
    }),
  )

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0) throw new TrafficError('invalid', `${text} is not a number of at least 0.`)
  return value
}

const simulation = new Command('simulate')
  .description('who reaches which cluster when, with stickiness and sessions')
  .argument('<plan>', 'plan file')
  .option('--seed <number>', 'the same seed gives the same run', count, 1)
  .option('--clients <number>', 'clients at a time', count, 2000)
  .option('--think <seconds>', 'mean time between two requests of a client', count, 5)
  .option('--session <seconds>', 'mean time until a client is replaced by a new one', count, 600)
  .option('--minutes <number>', 'length of the run', count)
  .option('--no-renew', 'the cookie runs out although the client is active')
  .option('--json', 'the series as JSON')
  .action(
    guarded(
      (
        file: string,
        flags: {
          seed: number
          clients: number
          think: number
          session: number
          minutes?: number
          renew: boolean
          json?: boolean
        },
      ) => {
        const { seed, clients, minutes } = flags
        const result = simulate(planFromText(readText(file)), {
          ...{ seed, clients, thinkSeconds: flags.think, sessionSeconds: flags.session, renewCookie: flags.renew },
          ...(minutes === undefined ? {} : { minutes }),
        })
        if (flags.json) printJson(result)
        else print(chart(result))
      },
    ),
  )

const POLL_MS = 2_000
const withEngine = <Result>(body: (engine: Engine, database: Database) => Promise<Result>): Promise<Result> =>
  withDatabase(
    createRuntime(),
    (database) => body(engineOn(database), database),
    () => {},
  )

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
  const weights = plan.steps[row.step]!.weights
  print(
    `${row.id}: ${row.state}, step ${row.step} of ${plan.steps.length - 1} (${weights.current}/${weights.target})${row.problem ? `\n  problem: ${row.problem}` : ''}\n  possible now: ${rest.actions.join(', ') || 'nothing'}`,
  )
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

const actionCommand = (action: Action): Command =>
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
        withEngine((engine, database) => carryOut(engine, database, action, subject, flags)),
      ),
    )

async function carryOut(
  engine: Engine,
  database: Database,
  action: Action,
  subject: string,
  flags: ActionFlags,
): Promise<void> {
  const row = await switchOf(database, subject)
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

const status = new Command('status')
  .description('all switches, or one with its journal')
  .argument('[switch]', 'id or name')
  .option('--json', 'as JSON')
  .action(
    guarded((subject: string | undefined, { json }: { json?: boolean }) =>
      withEngine(async (_engine, database) => {
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

const approval = new Command('approve')
  .description('pass the approval gate of the step in force')
  .argument('<switch>', 'id or name')
  .option('--reason <text>', 'what was looked at')
  .option('--json', 'the switch as JSON')
  .action(
    guarded((subject: string, { reason, json }: { reason?: string; json?: boolean }) =>
      withEngine(async (engine, database) => {
        const { id } = await getSwitch(database, subject)
        show(await approve(engine, id, userInfo().username, reason), json)
      }),
    ),
  )

const reverse = new Command('reverse')
  .description('a new draft in the other direction')
  .argument('<switch>', 'id or name')
  .option('--source-security-group <id>', 'of the load balancer that is left; read from AWS when missing')
  .option('--json', 'the switch as JSON')
  .action(
    guarded((subject: string, { sourceSecurityGroup, json }: { sourceSecurityGroup?: string; json?: boolean }) =>
      withEngine(async (engine, database) =>
        show(
          await reverseSwitch(engine, await getSwitch(database, subject), userInfo().username, sourceSecurityGroup),
          json,
        ),
      ),
    ),
  )

export const traffic = new Command('traffic').description('switch weighted traffic between two clusters')
for (const command of [init, lint, render, diff, simulation, ...ACTIONS.map(actionCommand), approval, reverse, status])
  traffic.addCommand(command)
