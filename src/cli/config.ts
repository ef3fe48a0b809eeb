import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { counted } from '../basics/counted.ts'
import { fileNamed, requirePlace, writeUserText } from '../basics/user-file.ts'
import type { ConfigChange } from '../config-as-code/change.ts'
import type { ConfigContext } from '../config-as-code/context.ts'
import { type Config, parseConfig } from '../config-as-code/document.ts'
import { exportConfig } from '../config-as-code/export.ts'
import { applyConfig, planConfig } from '../config-as-code/reconcile.ts'
import { assumptionLines } from '../control-plane/plan/assumptions.ts'
import type { Assumption } from '../control-plane/records.ts'
import { messageOf, UserError } from '../errors.ts'
import { createControlPlane } from '../start/create-control-plane.ts'
import { changeLines } from './config-changes.ts'
import { commandLineActor, openControl } from './control.ts'
import { FORCE } from './force.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const withContext = <Result>(body: (context: ConfigContext) => Promise<Result>) => {
  const runtime = createRuntime()
  return withDatabase(
    runtime,
    async (database) => {
      const { context, services } = await openControl(runtime, database)
      const actor = commandLineActor()
      return body({
        control: context,
        services,
        actor,
        servicesOn: (inside) => createControlPlane({ ...context, database: inside }).servicesFor(actor),
      })
    },
    () => {},
  )
}

const reconciled = (reconcile: typeof planConfig, config: Config, allowsEmpty: boolean) =>
  withContext(async (context) => {
    let assumptions: readonly Assumption[] = []
    const tellAssumed = (all: readonly Assumption[]) => {
      assumptions = all
    }
    const changes = await reconcile(config, { ...context, allowsEmpty, tellAssumed })
    return { changes, assumptions }
  })

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

function print(
  changes: readonly ConfigChange[],
  { assumptions, unset }: { readonly assumptions: readonly Assumption[]; readonly unset: Config['unset'] },
  asJson: boolean,
  done: string,
): void {
  if (asJson) {
    console.log(JSON.stringify({ changes, assumptions }))
    return
  }
  for (const line of changes.flatMap(changeLines)) console.log(line)
  for (const { path, name } of unset) {
    const [, plugin, connection, field] = path
    console.log(`${name} is not set: the stored ${field} of ${plugin} connection ${connection} stays.`)
  }
  for (const line of assumptions.flatMap(assumptionLines)) console.log(line)
  console.log(changes.length === 0 ? 'Nothing to change.' : `${counted(changes.length, 'change')} ${done}.`)
}

const json = ['--json', 'print JSON'] as const
const empty = ['--allow-empty', 'allow selectors and rules that match nothing'] as const

interface Options {
  readonly json?: boolean
  readonly allowEmpty?: boolean
  readonly check?: boolean
  readonly force?: boolean
}

const plan = new Command('plan')
  .description('show what apply would change')
  .argument('<file>', 'YAML')
  .option(...json)
  .option(...empty)
  .option('--check', 'exit with code 2 if there is something to change')
  .action(async (file: string, { json: asJson = false, allowEmpty = false, check }: Options) => {
    const config = parseConfig(readFile(file), file, process.env)
    const { changes, assumptions } = await reconciled(planConfig, config, allowEmpty)
    print(changes, { assumptions, unset: config.unset }, asJson, 'to make')
    if (check && changes.length > 0) process.exitCode = 2
  })

const apply = new Command('apply')
  .description('change connections, scope configs, projects and schedules to match the file: all or nothing')
  .argument('<file>', 'YAML')
  .option(...json)
  .option(...empty)
  .action(async (file: string, { json: asJson = false, allowEmpty = false }: Options) => {
    const config = parseConfig(readFile(file), file, process.env)
    const { changes, assumptions } = await reconciled(applyConfig, config, allowEmpty)
    print(changes, { assumptions, unset: config.unset }, asJson, 'made')
  })

const exportCommand = new Command('export')
  .description('write the stored configuration as YAML; secrets become environment variables')
  .argument('[file]', 'where to; standard output when left out, or -')
  .option(...json)
  .option(...FORCE)
  .action(async (named: string | undefined, options: Options) => {
    const { force = false } = options
    const file = fileNamed(named)
    if (file) await requirePlace(file, { force })
    const text = await withContext(exportConfig)
    if (file) {
      await writeUserText(file, text, { force })
      console.log(`The configuration is in ${file}.`)
    } else process.stdout.write(options.json ? `${JSON.stringify({ config: text })}\n` : text)
  })

export const config = new Command('config')
  .description('configuration as code')
  .addCommand(exportCommand)
  .addCommand(plan)
  .addCommand(apply)
