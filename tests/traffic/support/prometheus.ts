import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/servers.ts'

const PROMETHEUS = '/usr/bin/prometheus'
export const hasPrometheus = existsSync(PROMETHEUS) && existsSync('/usr/bin/promtool')

/** A real server with data that existed before it started, so that no test has to wait for a scrape. */
export async function startPrometheus(openMetrics: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-prometheus-'))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const data = join(folder, 'data')
  const metrics = file('metrics.txt', openMetrics)
  execFileSync('/usr/bin/promtool', ['tsdb', 'create-blocks-from', 'openmetrics', metrics, data], { stdio: 'pipe' })
  const address = `127.0.0.1:${await freePort()}`
  const child: ChildProcess = spawn(
    PROMETHEUS,
    [
      `--config.file=${file('prometheus.yml', 'scrape_configs: []\n')}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr!.on('data', (chunk) => (errors += chunk))
  const url = `http://${address}`
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`Prometheus did not start: ${errors}`)
    await sleep(50)
  }
  return {
    url,
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
