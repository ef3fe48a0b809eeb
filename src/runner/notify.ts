/** Notifies another system when a pipeline is created, begins and ends. Messages are signed, so that it can verify the sender. */
import { createHash, randomBytes } from 'node:crypto'
import type { Notify } from '../control-plane/services.ts'
import { findRow, insertRow } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { messageOf } from '../errors.ts'
import { type Logger, redact } from '../log.ts'
import { createApiClient, safeUrl } from '../plugin-kit/http/index.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import { notifications } from '../system/state.ts'

const TIMEOUT_MS = 30_000
const LONGEST_ANSWER = 10_000

/** A notification that cannot be delivered is recorded, and does not affect the pipeline. */
export function createNotify(database: Database, log: Logger, endpoint: string, secret = ''): Notify {
  const client = createApiClient({ connection: 'NOTIFICATION_ENDPOINT', endpoint, credentials: [] })

  async function deliver(pipelineId: number, status?: TaskStatus): Promise<void> {
    const pipeline = await findRow(database.kysely, pipelines, { id: pipelineId })
    if (!pipeline) return
    const blueprint = await findRow(database.kysely, blueprints, { id: pipeline.blueprint_id })
    const body = {
      ProjectName: blueprint?.project_name ?? '',
      PipelineID: pipeline.id,
      CreatedAt: pipeline.created_at,
      UpdatedAt: pipeline.updated_at,
      BeganAt: pipeline.began_at,
      FinishedAt: pipeline.finished_at,
      Status: status ?? pipeline.status,
    }
    const data = JSON.stringify(body)
    const nonce = `${pipeline.id}-${randomBytes(8).toString('hex')}`
    const sign = createHash('sha256').update(`${data}${secret}${nonce}`).digest('hex')
    const message = { type: 'PipelineStatusChanged', endpoint: safeUrl(endpoint), nonce, data }
    try {
      const { status: response_code, bytes } = await client.send(
        // DevLake spells it `nouce`, and receivers expect that.
        { method: 'POST', path: endpoint, query: { nouce: nonce, sign }, body, as: 'bytes' },
        AbortSignal.timeout(TIMEOUT_MS),
      )
      const response = Buffer.from(bytes).toString().slice(0, LONGEST_ANSWER)
      await insertRow(database.kysely, notifications, { ...message, response_code, response })
    } catch (error) {
      log.warn(`a notification was not delivered: ${messageOf(error)}`)
      await insertRow(database.kysely, notifications, {
        ...message,
        response_code: 0,
        response: redact(messageOf(error)),
      })
    }
  }

  let last: Promise<void> = Promise.resolve()
  return (pipelineId, status) => {
    // Sends them one after another, so that they arrive in the order of the events.
    last = last
      .then(() => deliver(pipelineId, status))
      .catch((error) => log.warn(`a notification was not stored: ${messageOf(error)}`))
    return last
  }
}
