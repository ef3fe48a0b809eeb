/** Repeats an action with a pause in between, which may vary. An error does not end the repetition. */
export interface Repeated {
  /** Ends the current pause. */
  wake(): void
  /** Stops after the action that is under way. */
  stop(): Promise<void>
}

export function repeat(
  pauseMs: number | (() => number),
  body: () => Promise<void>,
  onError: (error: unknown) => void,
): Repeated {
  let isStopped = false
  let isWoken = false
  let endPause = () => {}
  const pause = () =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, typeof pauseMs === 'number' ? pauseMs : pauseMs())
      endPause = () => {
        clearTimeout(timer)
        done()
      }
      if (isStopped || isWoken) endPause()
    })
  const running = (async () => {
    while (!isStopped) {
      isWoken = false
      await body().catch(onError)
      await pause()
    }
  })()
  const wake = () => {
    isWoken = true
    endPause()
  }
  return {
    wake,
    async stop() {
      isStopped = true
      wake()
      await running
    },
  }
}
