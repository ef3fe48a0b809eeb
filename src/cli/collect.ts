import { Command } from 'commander'
import { assumptionLines, assumptionsOfProject } from '../control-plane/plan/assumptions.ts'
import type { Pipeline, Task } from '../control-plane/records.ts'
import type { PipelineEvent } from '../control-plane/services.ts'
import { counted } from '../counted.ts'
import { messageOf, UserError } from '../errors.ts'
import { commandLineActor, openControl } from './control.ts'
import { fourKeyLines } from './metrics.ts'
import { startOwnRunner } from './runner.ts'
import { createRuntime, withDatabase } from './runtime.ts'

/** Exit codes; 0: completed, with or without gaps. */
const CODES: Partial<Record<Pipeline['status'], number>> = {
  TASK_COMPLETED: 0,
  TASK_PARTIAL: 3,
  TASK_CANCELLED: 130,
}

interface Options {
  readonly full?: boolean
  readonly skipCollectors?: boolean
  readonly json?: boolean
}

export const collect = new Command('collect')
  .description('run a project now and show its progress')
  .argument('<project>', 'its name')
  .option('--full', 'collect everything again')
  .option('--skip-collectors', 'collect nothing; use what is stored')
  .option('--json', 'print one JSON object for each change')
  .addHelpText(
    'after',
    '\nExit codes: 0 completed, 3 parts failed, 1 failed, 130 cancelled. Missing data and records that were put aside are reported\non standard error; `/v1/receipts` and `/v1/quarantine` have the details.',
  )
  .action(async (name: string, options: Options) => {
    const runtime = createRuntime()
    const last = await withDatabase(
      runtime,
      async (database, url) => {
        const control = await openControl(runtime, database)
        const { blueprints, pipelines, projects } = control.servicesFor(commandLineActor())
        const { blueprint } = await projects.get(name)
        if (!blueprint) throw new UserError(`Project ${name} has no blueprint: create one.`)
        const flags = { fullSync: options.full ?? false, skipCollectors: options.skipCollectors ?? false }
        const { id } = await blueprints.trigger(blueprint.id, flags)
        if (!options.json) {
          const assumed = await assumptionsOfProject(control.context, name)
          for (const line of assumed.flatMap(assumptionLines)) console.log(line)
        }
        const runner = await startOwnRunner(runtime.config, control, url)
        const stop = new AbortController()
        const cancel = () =>
          void pipelines.cancel(id).catch((error) => {
            say(`Run ${id} could not be cancelled: ${messageOf(database.explain(error) ?? error)}`)
            stop.abort()
          })
        const tellAway = (error: Error) => say(`${error.message} The run continues when the database is back.`)
        runtime.signal.addEventListener('abort', cancel, { once: true })
        try {
          const ended = await show(pipelines.watch(id, stop.signal, tellAway), options.json ?? false)
          if (!options.json) for (const line of await fourKeyLines(control.context, name)) console.log(line)
          return ended
        } finally {
          runtime.signal.removeEventListener('abort', cancel)
          await runner.stop()
        }
      },
      () => {},
    )
    process.exitCode = CODES[last.status] ?? 1
  })

const say = (line: string) => console.error(`weir: ${line}`)

async function show(events: AsyncIterable<PipelineEvent>, asJson: boolean): Promise<Pipeline> {
  const bar = createBar()
  let last: PipelineEvent | undefined
  for await (const event of events) {
    last = event
    if (asJson) console.log(JSON.stringify(event))
    else bar.draw(event)
  }
  if (!last) throw new UserError('The run was deleted while it was running.')
  if (!asJson) bar.finish(last)
  return last.pipeline
}

const WIDTH = 30

/** One line that is drawn over; where output is no terminal, a line for each step. */
function createBar() {
  const isTerminal = process.stdout.isTTY
  let drawn = ''
  const put = (line: string) => {
    if (line === drawn) return
    drawn = line
    if (isTerminal) process.stdout.write(`\r\u001b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`)
    else console.log(line)
  }
  return {
    draw({ pipeline, tasks }: PipelineEvent) {
      const done = tasks.reduce((sum, task) => sum + (isDone(task) ? 1 : task.progress), 0)
      const share = tasks.length === 0 ? 0 : done / tasks.length
      const filled = Math.round(share * WIDTH)
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
      put(
        `${bar} ${Math.floor(share * 100)} %  ${pipeline.finishedTasks}/${pipeline.totalTasks} tasks  ${currentOf(tasks) || waitOf(pipeline)}`,
      )
    },
    finish({ pipeline, tasks }: PipelineEvent) {
      if (isTerminal) process.stdout.write('\n')
      for (const { plugin, failedSubTask, message } of tasks.filter(({ status }) => status === 'TASK_FAILED')) {
        console.error(`${plugin} ${failedSubTask}: ${message}`)
      }
      for (const { plugin, message } of tasks.filter(({ status, message }) => status === 'TASK_COMPLETED' && message)) {
        for (const line of message.split('\n')) console.error(`${plugin} ${line}`)
      }
      const seconds = pipeline.spentSeconds
      console.log(`Run ${pipeline.id}: ${pipeline.status.replace('TASK_', '').toLowerCase()} after ${seconds} s.`)
    },
  }
}

const isDone = ({ status }: Task) => !['TASK_CREATED', 'TASK_RERUN', 'TASK_RESUME', 'TASK_RUNNING'].includes(status)

/** What nothing continues without, say another run that works on the same scope. */
const waitOf = ({ status, message }: Pipeline) => (status === 'TASK_RUNNING' ? (message.split('\n')[0] ?? '') : '')

function currentOf(tasks: readonly Task[]): string {
  const running = tasks.filter(({ status }) => status === 'TASK_RUNNING')
  return running
    .map(({ plugin, progressDetail: detail }) => {
      if (!detail) return plugin
      const left = detail.requestsLeft === null ? '' : `, ${counted(detail.requestsLeft, 'request')} left`
      const wait = detail.waitingUntil ? `, waiting until ${detail.waitingUntil.toISOString().slice(11, 19)} UTC` : ''
      return `${plugin} ${detail.subTaskName} ${detail.finishedRecords}${left}${wait}`
    })
    .join('; ')
}
