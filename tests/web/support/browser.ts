import { execFileSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
