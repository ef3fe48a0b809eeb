/** Runs in separate processes that are really killed, at any request. */
import fc from 'fast-check'
import type { History } from './support/history.ts'
import { describeHistories } from './support/suite.ts'
import { workshopVendor } from './workshop/vendor.ts'

const FEW = process.env.FULL_SIZE === 'true' ? 20 : 2

const histories = fc.tuple(fc.nat(40), fc.nat(30), fc.nat(9)).map(
  ([first, second, number]): History => [
    ['kill process', 0, first],
    ['relabel item', number, 3],
    ['remove comment', number, 0],
    ['run', 1],
    ['kill process', 0, second],
    ['finish build', number, 1],
    ['kill process', 1, first],
  ],
)

describeHistories(workshopVendor, (lives) => {
  for (const [index, history] of fc.sample(histories, FEW).entries()) lives(`after kills, ${index + 1}`, history)
})
