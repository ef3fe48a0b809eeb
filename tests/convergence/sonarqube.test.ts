import { describeConvergence } from './support/suite.ts'
import { sonarqubeVendor } from './vendors/sonarqube.ts'

describeConvergence(sonarqubeVendor, { few: 2, many: 300 })
