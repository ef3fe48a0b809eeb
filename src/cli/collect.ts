import { Command } from 'commander'
import { counted } from '../basics/counted.ts'
import { assumptionLines, assumptionsOfProject } from '../control-plane/plan/assumptions.ts'
import type { Pipeline, Task } from '../control-plane/records.ts'
import { isFinished, QUEUED } from '../control-plane/runs/states.ts'
import type { PipelineEvent, PipelineService } from '../control-plane/services.ts'
import { messageOf, UserError } from '../errors.ts'
import { commandLineActor, openControl } from './control.ts'
import { fourKeyLines } from './metrics.ts'
import { startOwnRunner } from './runner.ts'
import { createRuntime, withDatabase } from './runtime.ts'

/** Exit codes by status; 0 means completed, with or without gaps. */
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
        const inQueue = setTimeout(() => void tellQueue(pipelines, id, options.json ?? false), QUEUED_MS)
        try {
          const ended = await show(pipelines.watch(id, stop.signal, tellAway), options.json ?? false)
          if (!options.json) for (const line of await fourKeyLines(control.context, name)) console.log(line)
          return ended
        } finally {
          clearTimeout(inQueue)
          runtime.signal.removeEventListener('abort', cancel)
          await runner.stop()
        }
      },
      () => {},
    )
    process.exitCode = CODES[last.status] ?? 1
  })

const say = (line: string) => console.error(`weir: ${line}`)

/** A run that gets its turn at once is not reported as waiting. */
const QUEUED_MS = 1_000

/** Tells what a run that has not begun waits for. Otherwise nothing would be printed until it begins. */
async function tellQueue(pipelines: PipelineService, id: number, asJson: boolean): Promise<void> {
  try {
    const { status } = await pipelines.get(id)
    const { items } = await pipelines.list({ status: 'TASK_RUNNING' })
    const others = items.map((each) => `run ${each.id} (${each.name})`)
    if (asJson || !(QUEUED as readonly string[]).includes(status)) return
    const why = others.length > 0 ? `until others end: ${others.join(', ')}` : 'until a server or worker takes it'
    console.log(`Run ${id} waits ${why}.`)
  } catch {
    // Whatever is wrong, the run itself tells it.
  }
}

async function show(events: AsyncIterable<PipelineEvent>, asJson: boolean): Promise<Pipeline> {
  const display = process.stdout.isTTY ? createBar() : createLines()
  let last: PipelineEvent | undefined
  for await (const event of events) {
    last = event
    if (asJson) console.log(JSON.stringify(event))
    else display.draw(event)
  }
  if (!last) throw new UserError('The run was deleted while it was running.')
  if (!asJson) {
    display.finish()
    tellEnd(last)
  }
  return last.pipeline
}

const WIDTH = 30

interface Display {
  draw(event: PipelineEvent): void
  finish(): void
}

/** Draws one line over and over. */
function createBar(): Display {
  let drawn = ''
  return {
    draw({ pipeline, tasks }) {
      const done = tasks.reduce((sum, task) => sum + (isDone(task) ? 1 : task.progress), 0)
      const share = tasks.length === 0 ? 0 : done / tasks.length
      const filled = Math.round(share * WIDTH)
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
      const line = `${bar} ${Math.floor(share * 100)} %  ${endedWords(pipeline, tasks)}  ${currentOf(tasks) || waitOf(pipeline)}`
      if (line === drawn) return
      drawn = line
      process.stdout.write(`\r\u001b[2K${line.slice(0, (process.stdout.columns || 80) - 1)}`)
    },
    finish: () => void process.stdout.write('\n'),
  }
}

/** For files and pipes, where every line stays: one line for each task that begins or ends, and for what the run waits for. */
function createLines(): Display {
  const states = new Map<string, string>()
  let wait = ''
  return {
    draw({ pipeline, tasks }) {
      for (const task of tasks) {
        const place = `${task.pipelineRow} ${task.pipelineCol}`
        const state = task.status === 'TASK_RUNNING' || isDone(task) ? stateWord(task.status) : ''
        if (state === '' || states.get(place) === state) continue
        states.set(place, state)
        console.log(`${endedWords(pipeline, tasks)}: ${task.plugin} ${aboutOf(task)}${state}`)
      }
      const now = waitOf(pipeline)
      if (now !== '' && now !== wait) console.log(now)
      wait = now
    },
    finish() {},
  }
}

/** Prints the messages of the tasks, because those that were shown on the way are complete only now. */
function tellEnd({ pipeline, tasks }: PipelineEvent): void {
  for (const { plugin, failedSubTask, message } of tasks.filter(({ status }) => status === 'TASK_FAILED')) {
    console.error(`${plugin} ${failedSubTask}: ${message}`)
  }
  for (const { plugin, message } of tasks.filter(({ status, message }) => status === 'TASK_COMPLETED' && message)) {
    for (const line of message.split('\n')) console.error(`${plugin} ${line}`)
  }
  console.log(`Run ${pipeline.id}: ${stateWord(pipeline.status)} after ${pipeline.spentSeconds} s.`)
}

const stateWord = (status: string) => status.replace('TASK_', '').toLowerCase()

/** `3/10 tasks ended, 1 failed`, because a task that has ended has not always succeeded. */
function endedWords({ finishedTasks, totalTasks }: Pipeline, tasks: readonly Task[]): string {
  const failed = tasks.filter(({ status }) => status === 'TASK_FAILED').length
  return `${finishedTasks}/${totalTasks} tasks ended${failed > 0 ? `, ${failed} failed` : ''}`
}

/** The subject of a task, as its options name it. */
function aboutOf({ options }: Task): string {
  const { fullName, name, projectName } = options as Readonly<Record<string, unknown>>
  const about = [fullName, name, projectName].find((each) => typeof each === 'string' && each !== '')
  return about === undefined ? '' : `${about} `
}

const isDone = ({ status }: Task) => isFinished(status)

/** The reason why no task continues, such as another run that works on the same scope. */
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
