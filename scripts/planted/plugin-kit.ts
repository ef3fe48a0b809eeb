import type { Plot } from './plot.ts'

export const pluginKit: readonly Plot[] = [
  {
    file: 'src/plugin-kit/collect/run-window.ts',
    tests: ['src/plugin-kit/collect/run-window.test.ts'],
    defects: [
      ['policy.timeAfter === undefined ? stored : policy.timeAfter', 'policy.timeAfter ?? stored'],
      ['beginning === null || beginning < stored', 'beginning !== null && beginning < stored'],
      ['policy.isWhole || policy.fullSync ||', 'policy.fullSync ||'],
      ['since: policy.isWhole ? null : beginning', 'since: beginning'],
      ['start && start > time ? start : time', 'start ?? time'],
      ['time.getTime() - OVERLAP', 'time.getTime()'],
      ['notBefore(beginning, timeAfter) : timeAfter', 'beginning : timeAfter'],
    ],
  },
  {
    file: 'src/plugin-kit/http/split-by-date.ts',
    tests: ['src/plugin-kit/http/split-by-date.test.ts'],
    defects: [
      ['total <= cap || start === end', 'total < cap || start === end'],
      ['isOver: total > cap', 'isOver: total >= cap'],
      ['if (total === 0) continue', ''],
      ['[middle + 1, end]', '[middle + 2, end]'],
      ['newestFirst ? halves : halves.reverse()', 'halves'],
      ['start + seconds - 1, last', 'start + seconds, last'],
      ['(last - first + 1) / seconds', '(last - first) / seconds'],
    ],
  },
  {
    file: 'src/plugin-kit/http/budget.ts',
    tests: ['src/plugin-kit/http/budget.test.ts'],
    defects: [
      ['requests - burst + 1', 'requests'],
      ['          if (booked === undefined) rate.giveBack()\n', ''],
      ['nextEven - (burst - 1) * interval', 'nextEven'],
      ['          leaveClass?.()\n', ''],
      ['      leave()\n      throw error', '      throw error'],
      ['Math.max(now, nextEven) + interval', 'now + interval'],
    ],
  },
  {
    file: 'src/plugin-kit/push/csv.ts',
    tests: ['src/plugin-kit/push/csv.test.ts'],
    defects: [
      ['if (byte === QUOTE) isQuoted = !isQuoted', ''],
      ['++commas >= MOST_COLUMNS', '++commas > MOST_COLUMNS'],
      ['header.indexOf(cell) !== index', 'header.indexOf(cell) === index'],
      ["      if (record.every((cell) => cell === '')) continue\n", ''],
      ['record.length !== header.length', 'record.length < header.length'],
      ['&& !(bytes[position] === 13 && bytes[position + 1] === 10)', ''],
    ],
  },
  {
    file: 'src/plugin-kit/raw/json-slices.ts',
    tests: ['src/plugin-kit/raw/json-slices.test.ts'],
    defects: [
      ['&& bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++', '&& bytes[at] !== QUOTE; at++);'],
      ['byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--', 'byte === CLOSE_OBJECT) depth--'],
    ],
  },
  {
    file: 'src/plugin-kit/http/judge.ts',
    tests: ['src/plugin-kit/http/judge.test.ts', 'src/plugin-kit/http/api-client.test.ts'],
    defects: [
      ['RETRYABLE.has(status) || status >= 500', 'status >= 500'],
      ['heavy: HEAVY.has(status)', 'heavy: false'],
      ['Math.max(0, wait)', 'wait'],
      ['quota.remaining <= 0', 'quota.remaining < 0'],
      ['if (isRead(request)) return', 'return'],
      ['status === 304 || request', 'request'],
      ['status === 403 || status === 429 ? limitOf', 'status === 429 ? limitOf'],
    ],
  },
  {
    file: 'src/plugin-kit/collect/page-store.ts',
    tests: ['tests/collect/faults.test.ts', 'tests/plugin-kit/collect.test.ts'],
    defects: [['for (const { done } of group) done.reject(error)', 'for (const { done } of group) done.resolve()']],
  },
]
