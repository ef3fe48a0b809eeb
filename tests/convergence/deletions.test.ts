/**
 * With a start date, which is the default, a later run still sees every change that it would see without one. In every source
 * each record is changed once, so that there are records on both sides of that date. Then everything is deleted that can be.
 */
import type { History } from './support/history.ts'
import { describeHistories } from './support/suite.ts'
import type { VendorUnderTest } from './support/vendor-under-test.ts'
import { VENDORS } from './vendors/index.ts'
import { workshopVendor } from './workshop/vendor.ts'

const DELETES = /^(remove|delete|drop|hide|move|abandon|unlink|take|leave)/
const START_DATES = process.env.FULL_SIZE === 'true' ? [0, 1, 2] : [0]

function deletions({ changes }: VendorUnderTest, startDate: number): History {
  const seen = Object.entries(changes).filter(([, { leavesNoTrace }]) => !leavesNoTrace)
  const all = (isWanted: (name: string) => boolean, number: number): History =>
    seen.flatMap(([name, change]) =>
      isWanted(name) ? [[name, ...change.arguments.map((_, index) => (index === 0 ? 0 : number))]] : [],
    )
  return [
    ['start date', startDate],
    ...all((name) => !DELETES.test(name), 0),
    ['run', 0],
    ['run', 1],
    ...all((name) => DELETES.test(name), 0),
    ['run', 0],
    ...all((name) => DELETES.test(name), 1),
  ]
}

for (const vendor of [...VENDORS, workshopVendor]) {
  describeHistories(vendor, (history) => {
    for (const startDate of START_DATES) {
      history(`whatever is deleted, with start date ${startDate}`, deletions(vendor, startDate))
    }
  })
}
