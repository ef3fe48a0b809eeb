/** A server with the organisation of the demo, whose repositories can no longer be cloned. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Ask, fillDemo } from '../../../demo/fill.ts'
import { SMALL } from '../../../demo/organisation.ts'
import { tellStory } from '../../../demo/story.ts'
import { startVendors } from '../../../demo/vendors.ts'
import type { LiveServer } from '../../api/support/live-server.ts'
import type { Filled } from './filled.ts'

const OVER = ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED']

export async function fillWithDemo({ url }: Pick<LiveServer, 'url'>): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-demo-pages-'))
  const ask: Ask = async (method, path, body, type = 'application/json') => {
    const answer = await fetch(url + path, {
      method,
      ...(body && {
        headers: { 'content-type': type },
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const isJson = answer.headers.get('content-type')?.includes('json')
    const result: any = isJson ? await answer.json() : await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${result.message}`)
    return result
  }
  const finished = async (run: number): Promise<string> => {
    for (;;) {
      const { status } = await ask('GET', `/pipelines/${run}`)
      if (OVER.includes(status)) return status
      await sleep(100)
    }
  }
  const stories = tellStory(Date.now(), { ...SMALL, weeks: 8 })
  const vendors = await startVendors(stories, folder)
  await fillDemo({ stories, vendors, ask, say: () => {}, finished })
  for (const { service } of stories) rmSync(join(folder, service.name), { recursive: true, force: true })
  const { projects } = await ask('GET', '/projects')
  const [{ name: project, blueprint }] = projects
  const { id: runId } = await ask('POST', `/blueprints/${blueprint.id}/trigger`, { fullSync: true })
  expect(await finished(runId)).toBe('TASK_PARTIAL')
  const [{ id: connectionId }] = await ask('GET', '/plugins/github/connections')
  const { scopes } = await ask('GET', `/plugins/github/connections/${connectionId}/scopes`)
  const [scopeConfig] = await ask('GET', `/plugins/github/connections/${connectionId}/scope-configs`)
  const [{ id: webhookId }] = await ask('GET', '/plugins/webhook/connections')
  const [{ id: switchId }] = (await ask('GET', '/v1/traffic-switches')).switches
  const { token: sharedToken } = await ask('POST', '/v1/shared-dashboards', { dashboard: 'dora', values: { project } })
  const own = { project, connectionId, scopeConfigId: scopeConfig.id, webhookId }
  return {
    ...own,
    odd: own,
    scopeId: String(scopes[0].scope.githubId),
    blueprintId: blueprint.id,
    runId,
    switchId,
    sharedToken,
    async stop() {
      await vendors.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
