import { describeConvergence } from './support/suite.ts'
import { workshopVendor } from './workshop/vendor.ts'

describeConvergence(workshopVendor, { few: 8, many: 10_000 })
