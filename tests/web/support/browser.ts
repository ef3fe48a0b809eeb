import { execFileSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** The headless shell needs a third of the processor time, because it draws no window around the page. */
const FIND = 'command -v chromium-headless-shell || command -v chromium'

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: execFileSync('sh', ['-c', FIND], { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })

let shared: Promise<Browser> | undefined

/** One browser for all files of this process. It ends with the process, and each test has its own window. */
export const sharedBrowser = async (): Promise<Browser> => {
  if (!(await shared)?.isConnected()) shared = openBrowser()
  return shared as Promise<Browser>
}
