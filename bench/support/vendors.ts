/** Sources that `bench collect` takes from the convergence tests: their fakes, and how each one grows. Each source is one entry. */

import type { VendorUnderTest } from '../../tests/convergence/support/vendor-under-test.ts'
import { argocdVendor } from '../../tests/convergence/vendors/argocd.ts'
import { azuredevopsVendor } from '../../tests/convergence/vendors/azuredevops.ts'
import { bambooVendor } from '../../tests/convergence/vendors/bamboo.ts'
import { bitbucketVendor } from '../../tests/convergence/vendors/bitbucket.ts'
import { bitbucketServerVendor } from '../../tests/convergence/vendors/bitbucket-server.ts'
import { opsgenieVendor } from '../../tests/convergence/vendors/opsgenie.ts'
import { pagerdutyVendor } from '../../tests/convergence/vendors/pagerduty.ts'
import { sonarqubeVendor } from '../../tests/convergence/vendors/sonarqube.ts'

type Change = (name: string, ...parameters: (string | number | boolean)[]) => void

export interface VendorBench {
  readonly vendor: VendorUnderTest
  /** The changes of the first scope that come with each record. */
  readonly grow: (change: Change, index: number) => void
  /** The number of records of a run, unless another is given. */
  readonly records: number
}

const VENDORS: readonly VendorBench[] = [
  // All syncs come with the application, in one answer.
  { vendor: argocdVendor, records: 1000, grow: (change) => change('sync', 0) },
  {
    vendor: azuredevopsVendor,
    records: 2000,
    grow(change) {
      change('open pull request', 0)
      change('complete', 0)
      change('queue build', 0)
      change('finish build', 0, 0)
    },
  },
  {
    vendor: bambooVendor,
    records: 5000,
    grow(change, index) {
      // A plan with several jobs, as most have.
      if (index < 9) change('add job', 0)
      change('run build', 0, 0)
    },
  },
  {
    vendor: bitbucketVendor,
    records: 2000,
    grow(change, index) {
      change('open pull request', 0, index)
      change('comment', 0, index)
      change('merge', 0, index)
      change('open issue', 0, index)
      change('start pipeline', 0, index)
      change('finish pipeline', 0, index)
    },
  },
  {
    vendor: bitbucketServerVendor,
    records: 2000,
    grow(change, index) {
      change('open', 0, index)
      change('comment', 0, index)
      change('merge', 0, index)
    },
  },
  { vendor: opsgenieVendor, records: 10_000, grow: (change) => change('open', 0) },
  {
    vendor: pagerdutyVendor,
    records: 10_000,
    grow(change, index) {
      change('trigger', 0, index)
      change('resolve', 0)
    },
  },
  {
    vendor: sonarqubeVendor,
    records: 10_000,
    grow(change, index) {
      change('add issue', 0)
      change('measure file', 0, index)
    },
  },
]

export const VENDOR_NAMES = VENDORS.map(({ vendor }) => vendor.name)
export const vendorNamed = (name: string): VendorBench | undefined => VENDORS.find(({ vendor }) => vendor.name === name)
