import { describeConvergence } from './support/suite.ts'
import { jiraVendor } from './vendors/jira.ts'

describeConvergence(jiraVendor, { few: 4, many: 300 })
