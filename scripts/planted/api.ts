import type { Plot } from './plot.ts'

export const api: readonly Plot[] = [
  {
    file: 'src/api/addresses.ts',
    tests: ['src/api/addresses.test.ts'],
    defects: [
      ["method !== 'GET' || ", ''],
      ["if (strip('/rest')) viaKey.add(request)", "strip('/rest')"],
      ['&& !url.startsWith(`${prefix}?`)', ''],
      ["id.replaceAll('/', '%2F')", "id.replace('/', '%2F')"],
      ["|| path.includes('/proxy/rest/')", ''],
      ["path[end - 1] === '/') end--", "path[end - 1] === '/' && end === path.length) end--"],
      ['isOwnAddress(target) ? target : undefined', 'target'],
      ['(?![/\\\\])', ''],
    ],
  },
  {
    file: 'src/api/long-lists.ts',
    tests: ['src/api/long-lists.test.ts'],
    defects: [
      ['list.length > LONG ?', 'list.length > LONG + 1 ?'],
      ['part === value ? undefined : part', 'part'],
      ['errors.every(areSure)', 'errors.some(areSure)'],
      ['issues.some(isSure)', 'issues.every(isSure)'],
      ['errors.length > 0 && ', ''],
    ],
  },
  {
    file: 'src/api/routes/projects.ts',
    tests: ['tests/api/roles.test.ts'],
    defects: [["least: 'admin', reach: 'path', size: 'small'", "least: 'operator', reach: 'path', size: 'small'"]],
  },
]
