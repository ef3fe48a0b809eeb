/**
 * Every command of the documents is run here as printed, against a live server with collected data. Otherwise the document
 * says which other test runs it, or why none can.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReceiver } from '../alerts/receiver.ts'
import { type LiveServer, startLiveServer } from '../api/support/live-server.ts'
import { DEFAULT_TOKEN } from '../fake-github/fake-github.ts'
import { describeOneDatabase } from '../support/databases.ts'
import { type Block, blocks, documents, isRun, isTyped, root } from './blocks.ts'
import { type Installation, installExample } from './installation.ts'
import { openShell, type Shell } from './shell.ts'

const MINUTES = 60_000
const place = ({ document, line }: Block) => `${document}:${line}`

describe('blocks', () => {
  it('with commands say that they are for a shell', () => {
    expect(blocks.filter((block) => block.language !== 'sh' && isTyped(block)).map(place)).toEqual([])
  })

  it('that another test runs name a test that exists', () => {
    expect(blocks.filter(({ runBy }) => runBy && !existsSync(join(root, runBy))).map(place)).toEqual([])
  })

  it('are mostly run, here or by another test', () => {
    const shell = blocks.filter(({ language }) => language === 'sh')
    expect(shell.filter(({ notRun }) => notRun).length).toBeLessThan(shell.length / 3)
  })
})

/** One engine is enough to check commands: their effects are tested on both. */

describeOneDatabase('commands of documents', (test) => {
  let server: LiveServer
  let installation: Installation
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const shells: Shell[] = []
  beforeAll(async () => {
    receiver = await startReceiver()
    server = await startLiveServer(test.url)
    installation = await installExample(server)
  }, 5 * MINUTES)
  afterAll(async () => {
    for (const shell of shells) shell.remove()
    await installation?.stop()
    await server?.stop()
    await receiver?.stop()
  })

  /** Replaces the parts that readers replace with their own values. */
  const own = (text: string) =>
    text
      .replaceAll(/https?:\/\/(?:127\.0\.0\.1:8080|weir\.example\.org)/g, server.url)
      .replaceAll(/https:\/\/(?:example\.org\/hooks|hooks\.slack\.com)[^"\s]*/g, receiver.url)
      .replaceAll('https://api.github.com/', installation.github)
      .replaceAll('YOUR_TOKEN', DEFAULT_TOKEN)

  describe.each(documents.filter((document) => blocks.some((block) => block.document === document && isRun(block))))(
    '%s',
    (document) => {
      let shell: Shell
      beforeAll(() => {
        shell = openShell({
          DB_URL: test.url,
          DATA_FOLDER: server.dataFolder,
          PORT: '0',
          LOGGING_FILE: 'stderr',
          ...installation.variables,
        })
        shells.push(shell)
      })
      it.each(blocks.filter((block) => block.document === document && isRun(block)))(
        'line $line',
        async (block) => {
          const { code, output } = await shell.run(own(block.text))
          expect(code, `${place(block)}\n${output}`).toBe(0)
        },
        5 * MINUTES,
      )
    },
  )
})
