/** Short names for columns of panels. */
import type { Column, ColumnKind } from './dashboard.ts'

const column =
  (kind: ColumnKind) =>
  (title: string, link?: string): Column => ({ title, kind, ...(link && { link }) })

export const text = column('text')
export const moment = column('moment')
export const count = column('count')
export const share = column('share')
export const minutes = column('minutes')
export const seconds = column('seconds')
export const lines = column('lines')
export const bytes = column('bytes')

export const TIME: Column = { title: 'Time', kind: 'day' }
export const ADDRESS: Column = { title: 'Address', kind: 'address' }
