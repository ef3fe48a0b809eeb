import { describeConvergence } from './support/suite.ts'
import { circleciVendor } from './vendors/circleci.ts'

describeConvergence(circleciVendor, { few: 2, many: 300 })
