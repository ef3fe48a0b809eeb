import { type ReactNode, useEffect, useState } from 'react'

/** Shows nothing at first, so that there is no flicker if the data comes soon. */
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
