/** Remembers whether the server answered the last request. */
import { useSyncExternalStore } from 'react'

let isSilent = false
const listeners = new Set<() => void>()

export function heard(answered: boolean): void {
  if (isSilent === !answered) return
  isSilent = !answered
  for (const listener of listeners) listener()
}

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useIsSilent = (): boolean => useSyncExternalStore(listen, () => isSilent)
