/** Histories that once broke the law of convergence, as the machine printed them. */
import type { History } from './support/history.ts'
import { describeHistories } from './support/suite.ts'
import { bitbucketVendor } from './vendors/bitbucket.ts'
import { circleciVendor } from './vendors/circleci.ts'
import { githubGraphqlVendor, githubVendor } from './vendors/github.ts'
import { jiraVendor } from './vendors/jira.ts'
import { pagerdutyVendor } from './vendors/pagerduty.ts'
import { workshopVendor } from './workshop/vendor.ts'

const DELETED_PROJECT: History = [
  ['run project', 0],
  ['delete project', 0],
]

describeHistories(workshopVendor, (history) => {
  history('what is looked up in a list that all scopes share is gone', [
    ['run', 0],
    ['run', 1],
    ['remove kind', 0],
  ])
  history('the last comment of an item is removed', [
    ['run', 0],
    ['remove comment', 0, 0],
  ])
  history('a batch of inputs is answered by 304', [['run', 0]])
  history('a record that is asked for again is gone', [
    ['run', 0],
    ['run', 1],
    ['drop running build', 0],
  ])
  history('a record that its window should bring is gone', [
    ['run', 0],
    ['drop running deploy', 0],
  ])
  history('something changes in a list that was read before a run was interrupted', [
    ['run', 0],
    ['cancel', 0, 9],
    ['finish deploy', 0, 0],
  ])
  history('a scope that shares items is added', [
    ['run', 1],
    ['add scope', 2],
    ['run', 2],
  ])
  history('a scope is deleted whose number a tool with a longer name has too', [
    ['run', 0],
    ['delete scope', 0],
  ])
  history('another interface takes over beside a tool with a longer name', [['run', 0], ['swap interface'], ['run', 0]])
  history('an item is removed after the start date, over the interface that cannot filter by it', [
    ['start date', 0],
    ['swap interface'],
    ['run', 0],
    ['remove item', 3],
  ])
  history('an item is removed, and the start date goes back', [
    ['start date', 0],
    ['run', 0],
    ['remove item', 3],
    ['earlier start date'],
    ['run', 0],
    ['remove item', 2],
    ['earlier start date'],
  ])
  history('an item from before the start date is edited, and another is removed', [
    ['start date', 0],
    ['swap interface'],
    ['run', 0],
    ['edit item', 0, 1],
    ['remove item', 3],
  ])
  history('what was calculated for a project goes with it', DELETED_PROJECT)
  history('the last project of a scope goes', [
    ['run project', 0],
    ['run project', 1],
    ['delete project', 1],
    ['delete project', 0],
  ])
})

for (const vendor of [circleciVendor, jiraVendor]) {
  describeHistories(vendor, (history) => history('what was calculated for a project goes with it', DELETED_PROJECT))
}

/** Asks for reviews of the first pull requests. The persons asked may have given a review before. */
const asking = (person: (pull: number) => number): History =>
  [0, 1, 2, 3, 4, 5].map((pull) => ['ask for review', 0, pull, person(pull)])

describeHistories(githubVendor, (history) => {
  history('rules of pull requests change, and who gave a review stays so', [
    ['run', 0],
    ['change rules', 2],
  ])
  for (const first of [1, 3]) {
    history(`who gave a review is asked for another, and then no longer (from user ${first})`, [
      ['run', 0],
      ...asking((pull) => ((first + pull) % 4) + 1),
      ['run', 0],
      ...asking(() => 0),
    ])
  }
})

describeHistories(pagerdutyVendor, (history) => {
  history('a scope is deleted that named people whom another names too', [
    ['run project', 0],
    ['delete scope', 1],
  ])
})

describeHistories(bitbucketVendor, (history) => {
  history('an issue is deleted whose number another repository has too', [
    ['run', 1],
    ['delete issue', 1, 0],
  ])
})

describeHistories(githubGraphqlVendor, (history) => {
  for (const startDate of [0, 1]) {
    history(`an issue is deleted, with start date ${startDate}`, [
      ['start date', startDate],
      ['run', 0],
      ['remove quiet issue', 0, 0],
    ])
  }
  history('an issue is deleted, and then there is no start date any more', [
    ['start date', 0],
    ['run', 0],
    ['remove quiet issue', 0, 0],
    ['start date', 2],
  ])
})

describeHistories(githubVendor, (history) => {
  history('runs and deployments from before the start date change', [
    ['start date', 0],
    ['run', 0],
    ['rerun', 0, 0],
    ['rerun', 0, 1],
    ['set deployment status', 0, 0, 1],
    ['set deployment status', 0, 1, 1],
  ])
})
