import { describeConvergence } from './support/suite.ts'
import { jenkinsVendor } from './vendors/jenkins.ts'

describeConvergence(jenkinsVendor, { few: 2, many: 300 })
