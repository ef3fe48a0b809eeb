import { describeConvergence } from './support/suite.ts'
import { circleciVendor } from './vendors/circleci.ts'

describeConvergence(circleciVendor, { few: 4, many: 300 })
