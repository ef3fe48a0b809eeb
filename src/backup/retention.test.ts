import { expect, it } from 'vitest'
import { backupName, backupNames, momentOf } from './backup-name.ts'
import { expired } from './retention.ts'

const NOW = new Date('2026-11-19T12:00:00Z')
const daysAgo = (days: number) => backupName(new Date(NOW.getTime() - days * 86_400_000))
const names = [0, 1, 2, 3, 4].map(daysAgo)

it('a backup has its time as its name, to the second', () => {
  const at = new Date('2026-01-31T10:05:09.999Z')
  expect(backupName(at)).toBe('weir-backup-20260131T100509Z.backup')
  expect(momentOf(backupName(at))).toEqual(new Date('2026-01-31T10:05:09Z'))
})

it.each([
  'weir-backup-20261331T100000Z.backup',
  'weir-backup-20260131T100000Z.backup.part',
  'my-weir-backup-20260131T100000Z.backup',
  'weir-backup-20260131.backup',
])('%s is no backup of a schedule', (name) => {
  expect(momentOf(name)).toBeUndefined()
  expect(backupNames([name])).toEqual([])
})

it('backups are listed from the newest', () => {
  expect(backupNames([...names].reverse())).toEqual(names)
})

it('without a number and an age, all stay', () => {
  expect(expired(names, {}, NOW)).toEqual([])
})

it('a backup goes if neither its number nor its age keeps it, and the newest never', () => {
  expect(expired(names, { count: 2 }, NOW)).toEqual(names.slice(2))
  expect(expired(names, { days: 2 }, NOW)).toEqual(names.slice(3))
  expect(expired(names, { count: 4, days: 2 }, NOW)).toEqual(names.slice(4))
  expect(expired(names, { count: 1, days: 3 }, NOW)).toEqual(names.slice(4))
  expect(expired([daysAgo(40), daysAgo(50)], { days: 30 }, NOW)).toEqual([daysAgo(50)])
  expect(expired(names, { count: 0 }, NOW)).toEqual(names.slice(1))
})

it('what has no time in its name stays', () => {
  expect(expired([daysAgo(0), 'other.backup', daysAgo(9)], { days: 1 }, NOW)).toEqual([daysAgo(9)])
})
