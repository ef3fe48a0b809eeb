import { Command, Option } from 'commander'
import { stringify } from 'yaml'
import { connect } from '../../../traffic/engine/connect.ts'
import { draftOf } from '../../../traffic/engine/submit-plan.ts'
import { planFromText } from '../../../traffic/lint/require-plan.ts'
import { describeFinding, TrafficError } from '../../../traffic/model/finding.ts'
import { PRESETS } from '../../../traffic/model/init.ts'
import { flagOf } from '../../../traffic/model/words.ts'
import { importPlaces } from '../../../traffic/survey/import-places.ts'
import { importPlan } from '../../../traffic/survey/import-plan.ts'
import type { ImportRequest } from '../../../traffic/survey/import-types.ts'
import { describeCheck, preflightReport } from '../../../traffic/survey/preflight-report.ts'
import { EXIT, guarded, print, printJson, readText } from './output.ts'

const preflight = new Command('preflight')
  .description('what stands in the way of a plan, before anything changes')
  .argument('<plan>', 'plan file')
  .option('--json', 'the checks as JSON')
  .action(
    guarded(async (file: string, flags: { json?: boolean }) => {
      const plan = planFromText(readText(file))
      const checks = await preflightReport(plan, await connect(plan), draftOf(plan), new Date())
      const count = (wanted: string) => checks.filter(({ status }) => status === wanted).length
      if (flags.json) printJson(checks)
      else
        print(
          [
            ...checks.map(describeCheck),
            `${count('failed')} failed, ${count('warning')} warnings, ${count('unknown')} unknown`,
          ].join('\n'),
        )
      if (count('failed') > 0) process.exitCode = EXIT.invalid
    }),
  )

interface ImportFlags extends ImportRequest {
  readonly currentManifests?: string
  readonly targetManifests?: string
  readonly json?: boolean
}
const textIn = (file: string | undefined) => (file === undefined ? undefined : readText(file))

const importing = new Command('import')
  .description('print a plan made of the live Ingress, Service, target group and load balancer')
  .requiredOption('--project <name>', 'project whose incidents and deployments the gates watch')
  .requiredOption('--current-context <name>', 'kubeconfig context of the cluster that traffic leaves')
  .requiredOption('--target-context <name>', 'kubeconfig context of the cluster that gets it')
  .requiredOption('--namespace <name>', 'namespace of Ingress and Service')
  .requiredOption('--ingress <name>', 'Ingress of the current cluster')
  .option('--name <name>', 'name of the plan; default: namespace and Service')
  .option('--target-namespace <name>', 'namespace in the target cluster, where it is another')
  .option('--target-ingress <name>', 'Ingress of the target cluster, where it is another')
  .option('--create-target-ingress', 'the target has none: prepare makes one like the current')
  .option('--service <name>', 'Service that moves')
  .option('--port <port>', 'its port, as the Ingress names it')
  .option('--host <name>', 'host that clients use')
  .option('--path <path>', 'path that stands for the others')
  .option('--target-service <name>', 'Service that gets the traffic')
  .option('--target-port <port>', 'its port, as the target Ingress names it')
  .option('--container-port <number>', 'port on which the containers of the target listen', Number)
  .option('--source-security-group <id>', 'security group of the current load balancer')
  .option('--current-manifests <file>', 'its Ingress, Services and bindings as YAML, instead of asking the cluster')
  .option('--target-manifests <file>', 'the same of the target cluster')
  .option('--vpc-id <id>', 'VPC of the load balancer, if AWS cannot be asked')
  .option('--region <name>', 'AWS region; default: that of the load balancer')
  .option('--action-name <name>', 'name of the weighted action')
  .option('--target-group-name <name>', 'name of the auxiliary target group')
  .addOption(new Option('--preset <name>', 'how to split the move').choices(Object.keys(PRESETS)).default('standard'))
  .option('--json', 'plan, questions and findings as JSON')
  .action(
    guarded(async ({ json, currentManifests, targetManifests, ...request }: ImportFlags) => {
      const pasted = { current: textIn(currentManifests), target: textIn(targetManifests) }
      const imported = await importPlan(request, await importPlaces(request, pasted))
      if (json) printJson(imported)
      else {
        for (const item of imported.findings) console.error(describeFinding(item))
        if (imported.plan !== undefined) print(stringify(imported.plan, { lineWidth: 0 }))
      }
      if (imported.plan !== undefined) return
      const list = imported.questions.flatMap(({ field, text, choices, hints }) => [
        `  ${flagOf(field)}: ${text}${choices.length === 0 ? '' : ` Choices: ${choices.join(', ')}.`}`,
        ...choices.flatMap((choice, index) => (hints[index] ? [`    ${choice || '(none)'}: ${hints[index]}`] : [])),
      ])
      const reason = list.length > 0 ? 'Only you can decide this; repeat with' : 'The plan would not pass lint.'
      if (json) process.exitCode = EXIT.invalid
      else throw new TrafficError('invalid', [`No plan was written. ${reason}`, ...list].join('\n'))
    }),
  )

/** Commands that look at clusters and AWS, and need no database. */
export const surveyCommands: readonly Command[] = [importing, preflight]
