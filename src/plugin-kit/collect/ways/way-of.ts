import type { AnyCollectSpec } from '../../spec/collect.ts'
import type { Way } from '../collection.ts'
import { byTime } from './by-time.ts'
import { byWindows } from './by-windows.ts'
import { newestFirst } from './newest-first.ts'
import { numbered } from './numbered.ts'
import { whole } from './whole.ts'

/** The way in which a collector reads its lists. It is made for one collection, because it may remember what it has seen. */
export function wayOf({ incremental, windows }: AnyCollectSpec): Way {
  const way = wayOfList(incremental)
  return windows ? byWindows(windows, way) : way
}

function wayOfList(incremental: AnyCollectSpec['incremental']): Way {
  if (!incremental) return whole
  if ('filterBy' in incremental) return byTime(incremental)
  if ('newestFirstBy' in incremental) return newestFirst(incremental)
  return 'numbered' in incremental ? numbered(incremental.numbered) : whole
}
