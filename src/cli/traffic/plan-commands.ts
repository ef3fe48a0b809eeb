import { join } from 'node:path'
import { Command } from 'commander'
import { parseAllDocuments } from 'yaml'
import { counted } from '../../basics/counted.ts'
import { writeUserFolder } from '../../basics/user-file.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { planFromText } from '../../traffic/lint/require-plan.ts'
import { lintText } from '../../traffic/lint/text.ts'
import { describeFinding, errorsIn, type Finding, TrafficError } from '../../traffic/model/finding.ts'
import { initialPlan, PLACEHOLDERS, PRESETS } from '../../traffic/model/init.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { chart } from '../../traffic/render/chart.ts'
import { describeDifference, diffSides } from '../../traffic/render/diff.ts'
import {
  joinFiles,
  manifestsOf,
  phasesOf,
  type RenderedFile,
  readmeOfPhases,
  renderPhase,
} from '../../traffic/render/render.ts'
import { simulate } from '../../traffic/render/simulate.ts'
import { liveManifests } from '../../traffic/vendors/live-manifests.ts'
import { FORCE } from '../force.ts'
import { EXIT, guarded, print, printJson, readText } from './output.ts'

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

const init = new Command('init')
  .description('print a plan to start from')
  .argument('<name>', 'name of the plan')
  .option('--preset <name>', `how to split the move: ${Object.keys(PRESETS).join(', ')}`, 'standard')
  .option('--vpc <id>', 'VPC of both clusters')
  .option('--source-security-group <id>', 'security group of the current load balancer')
  .option('--routes <names>', 'several routes that move together, named after their Services: web,cart')
  .action(
    guarded((name: string, flags: { preset: string; vpc?: string; sourceSecurityGroup?: string; routes?: string }) => {
      const ids = {
        vpcId: flags.vpc ?? PLACEHOLDERS.vpcId,
        sourceSecurityGroup: flags.sourceSecurityGroup ?? PLACEHOLDERS.sourceSecurityGroup,
      }
      print(
        initialPlan(
          name,
          flags.preset,
          ids,
          flags.routes?.split(',').map((route) => route.trim()),
        ),
      )
    }),
  )

interface RenderFlags {
  phase?: string
  targetGroupArn?: string
  currentIngress?: string
  targetIngress?: string
  out?: string
  file?: string
  json?: boolean
  force?: boolean
}

/** Reads one Ingress, or as many as the plan has: as documents, or as the list that kubectl writes. */
const ingressesFrom = (file: string | undefined) =>
  file === undefined
    ? undefined
    : parseAllDocuments(readText(file)).flatMap((document) => {
        if (document.errors[0] !== undefined) throw document.errors[0]
        const value = document.toJS()
        return Array.isArray(value?.items) ? value.items : [value]
      })
const renderWith = (plan: Plan, phase: string, flags: RenderFlags): readonly RenderedFile[] =>
  renderPhase(plan, phase, {
    targetGroupArn: flags.targetGroupArn,
    currentIngress: ingressesFrom(flags.currentIngress),
    targetIngress: ingressesFrom(flags.targetIngress),
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
  .option('--phase <phase>', 'target-group, step-0 …, rollback, cleanup (default: step-0; with --out: all of them)')
  .option('--file <name>', 'only this file, for kubectl apply -f -')
  .option('--out <folder>', 'write the files of every phase, or of the one of --phase, into this folder')
  .option(...FORCE)
  .action(
    guarded((file: string, flags: RenderFlags) => {
      const plan = planFromText(readText(file), 'nothing was rendered')
      if (flags.out !== undefined) return writePhases(plan, flags.out, flags)
      const { phase = 'step-0' } = flags
      const files = renderWith(plan, phase, flags)
      if (flags.file === undefined) return flags.json ? printJson(files) : print(joinFiles(files))
      const only = files.find(({ path }) => path === flags.file)
      if (only === undefined)
        throw new TrafficError(
          'invalid',
          `Phase ${phase} has no file ${flags.file}; it has ${files.map(({ path }) => path).join(', ')}.`,
        )
      print(only.content)
    }),
  )

async function writePhases(plan: Plan, folder: string, flags: RenderFlags): Promise<void> {
  const phases = flags.phase === undefined ? phasesOf(plan) : [flags.phase]
  const files = phases.flatMap((phase) =>
    renderWith(plan, phase, flags).map(({ path, content }) => ({ path: join(phase, path), content })),
  )
  // Whoever gets all phases needs to know their order.
  const readme = flags.phase === undefined ? [readmeOfPhases(plan)] : []
  const contents = new Map([...readme, ...files].map(({ path, content }) => [path, content]))
  await writeUserFolder(folder, contents, { force: flags.force === true })
  if (!flags.json)
    print(
      `${counted(files.length, 'file')} of ${flags.phase ?? counted(phases.length, 'phase')} ${files.length === 1 ? 'is' : 'are'} in ${folder}.`,
    )
}

const diff = rendering(
  new Command('diff').description(
    'what differs between two phases, or between the live or a saved manifest and a phase',
  ),
)
  .argument('<plan>', 'plan file')
  .option('--from <phase>', 'phase before', 'step-0')
  .option('--to <phase>', 'phase after', 'step-1')
  .option('--against <file>', 'a saved manifest instead of --from')
  .option('--side <side>', 'cluster of the saved manifest: current or target', 'current')
  .option('--live', 'what the clusters have now instead of --from')
  .action(
    guarded(async (file: string, flags: DiffFlags) => {
      const plan = planFromText(readText(file), 'nothing was compared')
      const after = manifestsOf(renderWith(plan, flags.to, flags))
      const differences = diffSides(await beforeOf(plan, flags), after)
      if (flags.json) printJson(differences)
      else print(differences.map(describeDifference).join('\n') || 'no difference')
    }),
  )

interface DiffFlags extends RenderFlags {
  from: string
  to: string
  against?: string
  side: string
  live?: boolean
}

async function beforeOf(plan: Plan, flags: DiffFlags): Promise<Record<'current' | 'target', string>> {
  if (flags.live) return liveManifests(plan, await connect(plan))
  if (flags.against === undefined) return manifestsOf(renderWith(plan, flags.from, flags))
  return { current: '', target: '', [flags.side]: readText(flags.against) }
}

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
        const result = simulate(planFromText(readText(file), 'nothing was simulated'), {
          seed,
          clients,
          thinkSeconds: flags.think,
          sessionSeconds: flags.session,
          renewCookie: flags.renew,
          ...(minutes === undefined ? {} : { minutes }),
        })
        if (flags.json) printJson(result)
        else print(`${chart(result)}\nThis was a simulation: it applies nothing to the clusters.`)
      },
    ),
  )

/** Commands that work on files alone. */
export const planCommands: readonly Command[] = [init, lint, render, diff, simulation]
