import { describeConvergence } from './support/suite.ts'
import { githubVendor } from './vendors/github.ts'

describeConvergence(githubVendor, { few: 2, many: 300 })
