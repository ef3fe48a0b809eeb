/** Histories that once broke the law, as the machine printed them. */
import { describeHistories } from './support/suite.ts'
import { workshopVendor } from './workshop/vendor.ts'

describeHistories(workshopVendor, (history) => {
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
  history('a scope that shares items is added', [
    ['run', 1],
    ['add scope', 2],
    ['run', 2],
  ])
})
