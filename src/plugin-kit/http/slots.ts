export interface Slots {
  /** Resolves when a slot is free; call the result to leave it. */
  enter(signal: AbortSignal): Promise<() => void>
}

/** A fair queue for a fixed number of slots. */
export function createSlots(count: number): Slots {
  let free = count
  const queue: (() => void)[] = []
  function leave() {
    const next = queue.shift()
    if (next) next()
    else free++
  }
  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free--
        return leave
      }
      return new Promise((resolve, reject) => {
        const admit = () => {
          signal.removeEventListener('abort', abort)
          resolve(leave)
        }
        const abort = () => {
          queue.splice(queue.indexOf(admit), 1)
          reject(signal.reason)
        }
        queue.push(admit)
        signal.addEventListener('abort', abort, { once: true })
      })
    },
  }
}
