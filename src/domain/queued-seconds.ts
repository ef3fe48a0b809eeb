/** Whole seconds from queued to started; null when either is unknown, or when the clocks contradict each other. */
export function queuedSeconds(queued: Date | null | undefined, started: Date | null | undefined): number | null {
  if (!queued || !started || started < queued) return null
  return Math.floor((started.getTime() - queued.getTime()) / 1000)
}
