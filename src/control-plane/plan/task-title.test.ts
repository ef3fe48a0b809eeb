import { expect, it } from 'vitest'
import { namedFailure, taskTitle } from './task-title.ts'

const git = { plugin: 'gitextractor', options: { repoId: 'github:GithubRepo:1:5', fullName: 'acme/web' } }

it('a failure names the repository, board or project that it is about, once', () => {
  expect(namedFailure(git, 'The disk is full.')).toBe('acme/web: The disk is full.')
  expect(namedFailure(git, 'There is no repository https://host/acme/web.git.')).toBe(
    'There is no repository https://host/acme/web.git.',
  )
  expect(namedFailure({ plugin: 'jira', options: { connectionId: 1, boardId: 8 } }, 'refused')).toBe('board 8: refused')
  expect(namedFailure({ plugin: 'dora', options: { projectName: 'shop' } }, 'late')).toBe('shop: late')
  expect(namedFailure({ plugin: 'org', options: {} }, 'wrong')).toBe('wrong')
})

it('the subject is the most readable option, or the plugin if none tells it', () => {
  expect(
    taskTitle({ plugin: 'gitextractor', options: { fullName: '', name: 'web', url: 'https://host/web.git' } }),
  ).toBe('web')
  expect(taskTitle({ plugin: 'bamboo', options: { connectionId: 1, planKey: 'SHOP-WEB' } })).toBe('SHOP-WEB')
  expect(taskTitle({ plugin: 'org', options: { connectionId: 1 } })).toBe('org')
})

it('an address is named without credentials', () => {
  const task = { plugin: 'gitextractor', options: { url: 'https://secret:word@host/acme/web.git' } }
  expect(taskTitle(task)).toBe('https://host/acme/web.git')
  expect(taskTitle({ ...task, options: { url: 'ssh://git@host/acme/web.git' } })).toBe('ssh://host/acme/web.git')
  expect(namedFailure(task, 'refused')).toBe('https://host/acme/web.git: refused')
})
