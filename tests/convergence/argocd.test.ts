import { describeConvergence } from './support/suite.ts'
import { argocdVendor } from './vendors/argocd.ts'

describeConvergence(argocdVendor, { few: 2, many: 300 })
