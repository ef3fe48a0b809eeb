import { describeConvergence } from './support/suite.ts'
import { linearVendor } from './vendors/linear.ts'

describeConvergence(linearVendor, { few: 2, many: 300 })
