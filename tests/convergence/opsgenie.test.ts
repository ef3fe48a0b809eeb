import { describeConvergence } from './support/suite.ts'
import { opsgenieVendor } from './vendors/opsgenie.ts'

describeConvergence(opsgenieVendor, { few: 2, many: 300 })
