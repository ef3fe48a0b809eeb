import type { ReactNode } from 'react'

/** Parts of one page, each with its own address: the children are links. */
export function Tabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav className="tabs" aria-label={label}>
      {children}
    </nav>
  )
}
