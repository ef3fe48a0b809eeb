import { describeConvergence } from './support/suite.ts'
import { bambooVendor } from './vendors/bamboo.ts'

describeConvergence(bambooVendor, { few: 2, many: 300 })
