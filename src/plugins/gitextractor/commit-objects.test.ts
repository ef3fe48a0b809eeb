import { expect, it } from 'vitest'
import { objectReader } from './commit-objects.ts'
import type { Commit } from './commit-parser.ts'

const object = (digit: string, type: string, body: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`${digit.repeat(40)} ${type} ${Buffer.byteLength(body)}\n`),
    Buffer.from(body),
    Buffer.from('\n'),
  ])

const ADA = 'Ada <ada@example.com> 1700000000 +0100'
const commit = (message: string | Buffer, headers = '') =>
  Buffer.concat([
    Buffer.from(`tree ${'9'.repeat(40)}\nparent ${'8'.repeat(40)}\nauthor ${ADA}\ncommitter ${ADA}\n${headers}\n`),
    Buffer.from(message),
  ])

const bytes = Buffer.concat([
  object('1', 'commit', commit('first\n\nbody\n')),
  object('2', 'blob', `${'3'.repeat(40)} commit 5\nno object, but text\n\0`),
  object('4', 'commit', commit('\n \n  indented  \r\nlines\t\n\n\nend \n\n')),
  object('5', 'tag', `object ${'1'.repeat(40)}\ntype commit\n`),
  object('6', 'commit', commit(Buffer.from('caf\xe9', 'latin1'), 'encoding ISO-8859-1\n')),
  object('7', 'commit', commit('told\0never told\n', 'gpgsig -----BEGIN\n parent of none\n -----END\n')),
  object('8', 'commit', commit('')),
])

function read(size: number): Commit[] {
  const commits: Commit[] = []
  const reader = objectReader({ commit: (each) => commits.push(each) })
  for (let start = 0; start < bytes.length; start += size) reader.read(bytes.subarray(start, start + size))
  reader.end()
  return commits
}

it('reads commits among other objects, with messages as git log has them', () => {
  const commits = read(bytes.length)
  expect(commits.map(({ sha, message }) => [sha[0], message])).toEqual([
    ['1', 'first\n\nbody'],
    ['4', '  indented\nlines\n\n\nend'],
    ['6', 'café'],
    ['7', 'told'],
    ['8', ''],
  ])
  const ada = { name: 'Ada', email: 'ada@example.com' }
  for (const each of commits) {
    expect(each).toMatchObject({ parents: ['8'.repeat(40)], author: ada, committer: ada, committedAt: 1_700_000_000 })
  }
})

it('reads the same wherever pieces are cut', () => {
  const whole = read(bytes.length)
  for (const size of [1, 2, 3, 7, 41, 50, 64, 100, 333, 1000]) expect(read(size)).toEqual(whole)
})
