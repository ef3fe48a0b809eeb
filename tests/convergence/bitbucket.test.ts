import { describeConvergence } from './support/suite.ts'
import { bitbucketVendor } from './vendors/bitbucket.ts'
import { bitbucketServerVendor } from './vendors/bitbucket-server.ts'

describeConvergence(bitbucketVendor, { few: 2, many: 600 })
describeConvergence(bitbucketServerVendor, { few: 2, many: 600 })
