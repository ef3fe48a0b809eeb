import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

interface VirtualListProps<Item> {
  readonly items: readonly Item[]
  readonly label: string
  readonly keyOf: (item: Item) => string
  readonly rowHeight?: number
  /** Largest height of the whole list, in pixels or as a CSS length; short lists are lower. */
  readonly height: number | string
  readonly children: (item: Item) => ReactNode
  /** Loads more items; called when the end of the list comes into view. */
  readonly more?: (() => unknown) | undefined
}

const OVERSCAN = 12

/** A list of any length: only visible items are in the document. */
export function VirtualList<Item>({
  items,
  label,
  keyOf,
  rowHeight = 40,
  height,
  children,
  more,
}: VirtualListProps<Item>) {
  const view = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => view.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(items[index] as Item),
    overscan: OVERSCAN,
  })
  const isNearEnd = (virtual.getVirtualItems().at(-1)?.index ?? 0) >= items.length - OVERSCAN
  useEffect(() => {
    if (isNearEnd) more?.()
  }, [isNearEnd, more])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <section ref={view} className="virtual" style={{ maxHeight: height }} aria-label={label} tabIndex={0}>
      <ul style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <li
            key={key}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={{ height: rowHeight, transform: `translateY(${start}px)` }}
          >
            {children(items[index] as Item)}
          </li>
        ))}
      </ul>
    </section>
  )
}
