import { describeConvergence } from './support/suite.ts'
import { gitlabVendor } from './vendors/gitlab.ts'

describeConvergence(gitlabVendor, { few: 2, many: 600 })
