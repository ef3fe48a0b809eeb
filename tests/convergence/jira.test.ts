import { describeConvergence } from './support/suite.ts'
import { jiraVendor } from './vendors/jira.ts'

describeConvergence(jiraVendor, { few: 2, many: 300 })
