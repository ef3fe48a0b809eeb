import { describeConvergence } from './support/suite.ts'
import { githubVendor } from './vendors/github.ts'

describeConvergence(githubVendor, { few: 4, many: 300 })
