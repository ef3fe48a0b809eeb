import { type ReactNode, useEffect, useState } from 'react'

/** Nothing at first: what comes soon need not flicker. */
export function Late({ children }: { readonly children: ReactNode }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return isLong ? (
    <div role="status" aria-busy="true" aria-label="Loading">
      {children}
    </div>
  ) : null
}
