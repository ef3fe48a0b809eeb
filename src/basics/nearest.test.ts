import { expect, it } from 'vitest'
import { listOf, nearest, unknownName } from './nearest.ts'

const plugins = ['github', 'jira', 'circleci', 'gitextractor', 'webhook']

it('finds swapped, missing and wrong letters, in any letter case, and names that hold it', () => {
  expect(nearest('GitHbu', plugins)).toEqual(['github'])
  expect(nearest('jra', plugins)).toEqual(['jira'])
  expect(nearest('git', plugins)).toEqual(['github', 'gitextractor'])
  expect(nearest('sonarqube', plugins)).toEqual([])
  expect(nearest('', plugins)).toEqual([])
  expect(nearest('gxthxb', plugins)).toEqual(['github'])
  expect(nearest('webhoo', ['webhooky', 'webhook'])).toEqual(['webhook', 'webhooky'])
  // Two letters in the wrong order are one mistake, as one wrong letter is.
  expect(nearest('from', ['form', 'grom'])).toEqual(['form', 'grom'])
  expect(nearest('page', ['page1', 'page2', 'page3', 'page4'])).toEqual(['page1', 'page2', 'page3'])
})

it('finds names by one of their words', () => {
  const parameters = ['project', 'issueCategory', 'page_size', 'from']
  expect(nearest('categry', parameters)).toEqual(['issueCategory'])
  expect(nearest('sizes', parameters)).toEqual(['page_size'])
  expect(nearest('form', parameters)).toEqual(['from'])
})

it('says what was meant and what there is', () => {
  expect(unknownName('plugin', 'githbu', plugins).message).toBe(
    'There is no plugin githbu; did you mean github? There are: github, jira, circleci, gitextractor, webhook.',
  )
  expect(unknownName('project', 'shop', []).message).toBe('There is no project shop. There are none yet.')
})

it('takes no time for long names and long lists, and stays short', () => {
  const long = 'x'.repeat(200_000)
  const many = Array.from({ length: 1000 }, (_, index) => `project ${index}`)
  const { message } = unknownName('project', long, [...many, long])
  expect(message.length).toBeLessThan(2000)
  expect(message).toContain('and 951 more')
  expect(listOf(many.slice(0, 51))).toMatch(/project 49 and 1 more\.$/)
  expect(listOf(many.slice(0, 50))).toMatch(/project 49\.$/)
})
