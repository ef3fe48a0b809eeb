import { describeConvergence } from './support/suite.ts'
import { azuredevopsVendor } from './vendors/azuredevops.ts'

describeConvergence(azuredevopsVendor, { few: 2, many: 300 })
