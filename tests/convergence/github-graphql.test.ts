import { describeConvergence } from './support/suite.ts'
import { githubGraphqlVendor } from './vendors/github.ts'

describeConvergence(githubGraphqlVendor, { few: 2, many: 300 })
