import { setTimeout as sleep } from 'node:timers/promises'
import { stepEffects } from './effects/sequences.ts'
import { act, type Engine, judgeGates } from './engine.ts'
import { TrafficError } from './finding.ts'
import { getSwitch, listSwitches, planOf, type SwitchRow } from './store.ts'

const WATCHER = 'weir'
const WATCH_MS = 30_000

/** Looks once at a switch whose step is in force: drift pauses it, a failed gate does what the step says, `auto` moves on. */
export async function tick(engine: Engine, id: string): Promise<SwitchRow> {
  const row = await getSwitch(engine.database, id)
  if (row.state !== 'shifting' || row.verified_at === null) return row
  const plan = planOf(row)
  const outside = await engine.connect(plan)
  const drift = await driftOf(engine, row)
  if (drift !== undefined) return act(engine, id, { action: 'pause', actor: WATCHER, reason: drift })
  const results = await judgeGates(engine, row, plan, outside)
  const isOver = engine.now().getTime() >= row.verified_at.getTime() + plan.steps[row.step]!.dwellSeconds * 1000
  const isPassed = plan.advance === 'auto' && isOver && results.every(({ verdict }) => verdict === 'pass')
  if (!isPassed && results.every(({ verdict }) => verdict !== 'fail')) return row
  try {
    return await act(engine, id, { action: 'advance', actor: WATCHER, expectedVersion: row.version })
  } catch (error) {
    if (error instanceof TrafficError) return getSwitch(engine.database, id)
    throw error
  }
}

async function driftOf(engine: Engine, row: SwitchRow): Promise<string | undefined> {
  const plan = planOf(row)
  const context = { plan, outside: await engine.connect(plan), row: () => row, acceptsLive: false }
  const weights = stepEffects(context, row.step).find(({ name }) => name === 'weights')!
  try {
    const missing = await weights.missing()
    return missing === undefined ? undefined : `Drift: ${missing}`
  } catch (error) {
    if (error instanceof TrafficError) return error.message
    throw error
  }
}

/** Watches every switch until stopped; trouble with one never stops the others. */
export function startWatch(engine: Engine, onError: (id: string, error: unknown) => void): { stop(): Promise<void> } {
  const stopped = new AbortController()
  const { signal } = stopped
  const watch = async () => {
    while (!signal.aborted) {
      const rows = await listSwitches(engine.database).catch((error) => {
        onError('all', error)
        return []
      })
      for (const { id, state } of rows) {
        if (state === 'shifting') await tick(engine, id).catch((error) => onError(id, error))
      }
      await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  const watching = watch()
  return {
    async stop() {
      stopped.abort()
      await watching
    },
  }
}
