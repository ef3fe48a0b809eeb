import { useCallback, useState } from 'react'

/**
 * What somebody typed and has not saved yet, kept in the window under a name: a session that ends, a server that is
 * restarted or a page that is loaded again take nothing of it away.
 */
export function useDraft<Value>(name: string, initial: Value): [Value, (next: Value | undefined) => void, boolean] {
  const place = `draft ${name}`
  const [kept, setKept] = useState(() => ({ place, value: readDraft<Value>(place) }))
  const value = kept.place === place ? kept.value : readDraft<Value>(place)
  const set = useCallback(
    (next: Value | undefined) => {
      setKept({ place, value: next })
      try {
        if (next === undefined) sessionStorage.removeItem(place)
        else sessionStorage.setItem(place, JSON.stringify(next))
      } catch {
        // Full or switched off: the page itself still has it.
      }
    },
    [place],
  )
  return [value ?? initial, set, value !== undefined]
}

function readDraft<Value>(place: string): Value | undefined {
  try {
    const text = sessionStorage.getItem(place)
    return text === null ? undefined : (JSON.parse(text) as Value)
  } catch {
    return undefined
  }
}
