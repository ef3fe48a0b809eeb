/** Servers of a test, and the places in which each reports that the collection stands still. */
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { examine } from '../../../src/cli/doctor.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/log.ts'
import type { CauseName } from '../../../src/runner/standstill/standing.ts'
import { SECRET_KEY, until } from '../../pipelines/support/test-control.ts'
import { programFile, startProgram } from '../../support/programs.ts'
import type { ServerTarget } from './server-target.ts'
import { QUICK } from './thresholds.ts'

export interface StandingServer {
  readonly url: string
  ask(path: string): Promise<any>
  kill(signal: NodeJS.Signals): Promise<unknown>
}

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'weir-standstill-'))

export async function startServer(
  target: Omit<ServerTarget, 'plugins' | 'dataFolder'> & { readonly dataFolder?: string },
  flags: readonly string[] = [],
): Promise<StandingServer> {
  const plugins = pathToFileURL(programFile('tests/workers/support/fleet-plugin.ts')).href
  const whole: ServerTarget = { dataFolder: newFolder(), ...target, plugins }
  const child = startProgram('tests/standstill/support/server-target.ts', [JSON.stringify(whole)], { flags })
  const ended = once(child, 'exit')
  const failed = ended.then(() => Promise.reject(new Error('the server ended')))
  const [line] = await Promise.race([once(child.stdout, 'data'), failed])
  failed.catch(() => {})
  const [, url = ''] = /ready at (\S+)/.exec(String(line)) ?? []
  return {
    url,
    async ask(path) {
      const response = await fetch(url + path)
      const text = await response.text()
      return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
    },
    async kill(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Returns the findings that `weir doctor` prints on the machine of a server. */
export const findings = ({ url, dataFolder, runTasksOn = 'server' }: Omit<ServerTarget, 'plugins'>) =>
  examine(
    {
      config: readConfig({
        DB_URL: url,
        DATA_FOLDER: dataFolder,
        RUN_TASKS_ON: runTasksOn,
        ENCRYPTION_SECRET: SECRET_KEY,
      }),
      log: createLog('silent'),
      signal: new AbortController().signal,
      fail: (error) => {
        throw error
      },
    },
    QUICK,
  )

interface Place {
  readonly server: StandingServer
  readonly run: number
  /** The machine on which the doctor runs. */
  readonly machine: Omit<ServerTarget, 'plugins'>
}
interface Wanted {
  readonly cause: CauseName
  readonly severity: 'critical' | 'warning'
  readonly sentence: RegExp
}

/** Checks all reports. The overview uses `/v1/attention` and the page of a run its own request, so a browser opens each once. */
export async function expectTold({ server, run, machine }: Place, { cause, severity, sentence }: Wanted) {
  const of = (answer: any) => answer.standing?.find((each: any) => each.cause === cause && sentence.test(each.sentence))
  const told = await until(async () => of(await server.ask('/v1/attention')))
  expect(told).toMatchObject({ severity, remedy: expect.stringMatching(/\w/) })
  expect(await server.ask('/metrics')).toContain(`weir_attention{cause="${cause}",severity="${severity}"} 1`)
  expect(of(await server.ask(`/v1/pipelines/${run}/standing`))).toMatchObject({ severity })
  const found = await findings(machine)
  expect(found.filter(({ state }) => state === 'bad').map(({ message }) => message)).toContainEqual(
    expect.stringMatching(sentence),
  )
}

export async function expectOver({ server, run }: Place, cause: CauseName) {
  await until(async () => {
    const { standing } = await server.ask('/v1/attention')
    return standing && !standing.some((each: any) => each.cause === cause)
  })
  expect(await server.ask('/metrics')).not.toMatch(new RegExp(`weir_attention\\{cause="${cause}",severity="\\w+"\\} 1`))
  const { standing } = await server.ask(`/v1/pipelines/${run}/standing`)
  expect(standing.filter((each: any) => each.cause === cause)).toEqual([])
}
