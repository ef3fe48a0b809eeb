/** Reports about work, from any thread of this process, to code that counts or logs it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { BroadcastChannel } from 'node:worker_threads'

export type WorkEvent =
  | {
      readonly kind: 'task'
      readonly plugin: string
      readonly status: string
      readonly seconds: number
      readonly place?: WorkPlace
    }
  | {
      readonly kind: 'subtask'
      readonly plugin: string
      readonly subtask: string
      readonly seconds: number
      readonly records: number
      readonly rows: number
      readonly quarantined: number
    }
  | {
      readonly kind: 'source request'
      /** The name of the connection. */
      readonly connection: string
      /** 0 if no answer came. */
      readonly status: number
      readonly seconds: number
      readonly bytes: number
      /** The task that sent the request; missing when somebody tests a connection or chooses scopes. */
      readonly place?: WorkPlace | undefined
    }
  /** `isWarning`: the line is about the log itself, which does not contain it. */
  | ({ readonly kind: 'line'; readonly line: string; readonly isWarning?: boolean } & WorkPlace)

/** The run that a line of a log is about. */
export interface WorkPlace {
  readonly pipeline: number
  readonly task?: number
  readonly plugin?: string
}

const places = new AsyncLocalStorage<WorkPlace>()
/** Everything done within `work` belongs to this task. */
export const atWorkPlace = <Result>(place: WorkPlace, work: () => Result): Result => places.run(place, work)
export const workPlace = (): WorkPlace | undefined => places.getStore()

const NAME = 'weir work'
let sender: BroadcastChannel | undefined

export function tellWork(event: WorkEvent): void {
  if (!sender) {
    sender = new BroadcastChannel(NAME)
    sender.unref()
  }
  sender.postMessage(event)
}

/** Returns the function that stops listening. */
export function followWork(listener: (event: WorkEvent) => void): () => void {
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = (message: unknown) => listener((message as { data: WorkEvent }).data)
  channel.unref()
  return () => channel.close()
}
