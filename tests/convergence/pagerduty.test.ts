import { describeConvergence } from './support/suite.ts'
import { pagerdutyVendor } from './vendors/pagerduty.ts'

describeConvergence(pagerdutyVendor, { few: 2, many: 300 })
