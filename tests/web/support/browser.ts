import { execFileSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

/** The shell alone needs a third of the processor time: it draws no window around the page. */
const FIND = 'command -v chromium-headless-shell || command -v chromium'

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: execFileSync('sh', ['-c', FIND], { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })

let shared: Promise<Browser> | undefined

/** One for all files of this process, which ends it; a test has a window of its own. */
export const sharedBrowser = async (): Promise<Browser> => {
  if (!(await shared)?.isConnected()) shared = openBrowser()
  return shared as Promise<Browser>
}
