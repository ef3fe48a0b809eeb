/** The place of the API server, and its installation. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from './api-server.ts'

const MODULE = readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8')
const VERSION = /k8s\.io\/kubernetes v(\S+)/.exec(MODULE)![1]!
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'weir', `kube-apiserver-${VERSION}`)

export const program = join(cache, 'kube-apiserver')

const run = (command: string, parameters: readonly string[], folder?: string): string | undefined => {
  const { status, error, stderr } = spawnSync(command, parameters, { cwd: folder, encoding: 'utf8' })
  return status === 0
    ? undefined
    : `${command} ${parameters.join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`
}

/** Installs the programs. Returns the reason if that is not possible. */
export function install(): string | undefined {
  if (!hasProgram('etcd')) {
    const problem = run('apt-get', ['install', '--yes', '--no-install-recommends', 'etcd-server'])
    if (problem) return `etcd is not installed; ${problem}`
  }
  if (existsSync(program)) return undefined
  if (run('go', ['version'])) return 'there is no Go on this machine'
  mkdirSync(cache, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'go.mod'), join(cache, 'go.mod'))
  console.log(`building kube-apiserver ${VERSION}; this takes some minutes, once`)
  const build = ['build', '-mod=mod', '-trimpath', '-ldflags=-s -w', '-o', 'unfinished']
  const problem = run('nice', ['-n', '19', 'go', ...build, 'k8s.io/kubernetes/cmd/kube-apiserver'], cache)
  if (problem) return problem
  renameSync(join(cache, 'unfinished'), program)
  return undefined
}
