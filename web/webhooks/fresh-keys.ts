/** Keys that the server has just created, by connection. They cannot be shown again later, so they stay until the client is left. */
import { useSyncExternalStore } from 'react'

const keys = new Map<number, string>()
const listeners = new Set<() => void>()

export function keepKey(connectionId: number, key: string | undefined): void {
  if (!key) return
  keys.set(connectionId, key)
  for (const listener of listeners) listener()
}

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useFreshKey = (connectionId: number): string | undefined =>
  useSyncExternalStore(listen, () => keys.get(connectionId))
