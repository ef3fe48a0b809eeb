/** The thread that works on deliveries, one at a time, with a small database pool of its own. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { addressSecrets } from '../address-secrets.ts'
import { openDatabase } from '../database/open.ts'
import { publicMessageOf } from '../errors.ts'
import { keepSecret } from '../log.ts'
import { plugins } from '../plugins/index.ts'
import { type DeliveryWork, deliveryWork } from './delivery-work.ts'
import { behindFence, createFence } from './fence.ts'

export interface DeliverySetup {
  readonly databaseUrl: string
  readonly fenceMemory: SharedArrayBuffer
}
export interface DeliveryStep {
  readonly step: keyof DeliveryWork
  readonly id: number
}
export type FromDeliveryWorker =
  /** All that it needs is loaded: from now on its time counts. */
  | { readonly isBegun: true }
  | { readonly names: readonly string[] | undefined }
  | { readonly fault: string }
  /** The database is away. */
  | { readonly away: string }

/** That of the transaction, and one that reads beside it. */
const CONNECTIONS = 3

const setup = workerData as DeliverySetup
for (const secret of addressSecrets(setup.databaseUrl)) keepSecret(secret)
// On Linux this concerns the calling thread alone: whoever waits for the API comes first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const tell = (message: FromDeliveryWorker) => parentPort?.postMessage(message)

async function open(): Promise<DeliveryWork> {
  const database = behindFence(await openDatabase(setup.databaseUrl, CONNECTIONS), createFence(setup.fenceMemory))
  return deliveryWork({ database, plugins, onFault: (_id, error) => tell({ fault: error.stack ?? error.message }) })
}

let opened: Promise<DeliveryWork> | undefined

parentPort?.on('message', async ({ step, id }: DeliveryStep) => {
  try {
    // Opened again after a failure: the database may have been away.
    opened ??= open()
    const work = await opened
    tell({ isBegun: true })
    tell({ names: (await work[step](id)) ?? undefined })
  } catch (error) {
    opened = undefined
    tell({ away: publicMessageOf(error) })
  }
})
