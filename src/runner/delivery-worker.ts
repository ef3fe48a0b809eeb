/** The thread that processes deliveries one at a time, with its own small database pool. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../database/open.ts'
import { publicMessageOf } from '../errors.ts'
import { keepSecret } from '../log.ts'
import { plugins } from '../plugins/index.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
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
  /** Everything is loaded; the time limit of the delivery starts now. */
  | { readonly isBegun: true }
  | { readonly names: readonly string[] | undefined }
  | { readonly fault: string }
  /** The database is unreachable. */
  | { readonly away: string }

/** Enough for the transaction and reads beside it. */
const CONNECTIONS = 3

const setup = workerData as DeliverySetup
for (const secret of addressSecrets(setup.databaseUrl)) keepSecret(secret)
// On Linux this sets the priority of the calling thread only, so that API requests are answered first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const tell = (message: FromDeliveryWorker) => parentPort?.postMessage(message)

async function open(): Promise<DeliveryWork> {
  const database = behindFence(await openDatabase(setup.databaseUrl, CONNECTIONS), createFence(setup.fenceMemory))
  return deliveryWork({ database, plugins, onFault: (_id, error) => tell({ fault: error.stack ?? error.message }) })
}

let opened: Promise<DeliveryWork> | undefined

parentPort?.on('message', async ({ step, id }: DeliveryStep) => {
  try {
    // Opened again after a failure, because the database may have been unreachable.
    opened ??= open()
    const work = await opened
    tell({ isBegun: true })
    tell({ names: (await work[step](id)) ?? undefined })
  } catch (error) {
    opened = undefined
    tell({ away: publicMessageOf(error) })
  }
})
