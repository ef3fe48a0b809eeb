import { describeConvergence } from './support/suite.ts'
import { workshopVendor } from './workshop/vendor.ts'

describeConvergence(workshopVendor, { few: 16, many: 10_000 })
