/**
 * Traffic switching is a product of its own, in the workspace `traffic/`. Its code is loaded only if the package `weir-traffic` is
 * installed, which brings the large clients that the code needs.
 */
import packageFile from '../../package.json' with { type: 'json' }
import { UserError } from '../errors.ts'

export const TRAFFIC_MISSING = `Traffic switching is not installed: add it with "npm install ./weir-traffic-${packageFile.version}.tgz" in the folder where Weir is installed ("npm install" in a clone), or use the image whose tag ends in "-traffic"; then start Weir again.`

export function isTrafficInstalled(): boolean {
  try {
    return import.meta.resolve('weir-traffic') !== ''
  } catch {
    return false
  }
}

export function refuseTraffic(): never {
  throw new UserError(TRAFFIC_MISSING, { status: 501 })
}
