import type { ByTime } from '../../spec/collect.ts'
import type { Way } from '../collection.ts'
import { whole } from './whole.ts'

/** The source filters by time of change: a run reads everything that is sent. */
export const byTime = ({ filterBy, by }: ByTime): Way => ({ ...whole, filter: filterBy, changedAt: by })
