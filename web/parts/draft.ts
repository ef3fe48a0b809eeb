import { useCallback, useState } from 'react'

/**
 * Typed text that is not saved yet, kept in the session storage of the window under a name. So it survives the end of a session,
 * a restart of the server, and a reload of the page.
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
        // The storage is full or switched off: the page itself still has the text.
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
