/** The real Helm, built once from its source by Go and kept in the user's cache folder. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { folder, HELM, program } from './helm-program.ts'
import { root } from './weir.ts'

/** Helm built without its release flags assumes an old cluster. */
const CLUSTER = ['--kube-version', '1.33.0']
export const BUILD_LIMIT_MS = 20 * 60_000

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Record<string, string>
    readonly annotations?: Record<string, string>
  }
  readonly [field: string]: any
}

/** The reason why Helm is not available here, or undefined. */
export const missing: string | undefined =
  existsSync(program) || spawnSync('go', ['version']).status === 0 ? undefined : 'Go is not installed'

export async function ensureHelm(): Promise<void> {
  if (existsSync(program)) return
  mkdirSync(join(folder, '..'), { recursive: true })
  const draft = mkdtempSync(`${folder}.`)
  try {
    const environment = { ...process.env, GOBIN: draft }
    await promisify(execFile)('go', ['install', `helm.sh/helm/v3/cmd/helm@${HELM}`], { env: environment })
    // Another test file may have built it in the meantime.
    if (existsSync(program)) return
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const chart = join(root, 'deploy/chart')
/** Keeps the user's own Helm settings out. */
const environment = { ...process.env, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder, HELM_CACHE_HOME: folder }

function helm(parameters: readonly string[]): string {
  const options = {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 64 << 20,
    stdio: 'pipe',
  } as const
  try {
    return execFileSync(program, parameters, options)
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${stdout}\n${stderr}`)
  }
}

export const lint = (parameters: readonly string[]): string => helm(['lint', chart, '--strict', ...parameters])

export const render = (parameters: readonly string[]): Manifest[] =>
  parseAllDocuments(helm(['template', 'weir', chart, ...CLUSTER, ...parameters]))
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null)
