/**
 * The large clients. This file and its package are all that Weir lacks if traffic switching is not installed. It is JavaScript, because Node
 * runs no TypeScript under node_modules; and it is here, because only this package can find its clients, wherever npm puts them.
 */
import { readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const loadCloudWatch = () => import('@aws-sdk/client-cloudwatch')
export const loadElbV2 = () => import('@aws-sdk/client-elastic-load-balancing-v2')
export const loadRoute53 = () => import('@aws-sdk/client-route-53')

let loading

export function loadKubernetes() {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * The client consists of some 700 files of types and services. Loaded at once, they block the process for most of a second, so
 * other work is done in between.
 */
async function load() {
  for (const folder of ['gen/models/', 'gen/apis/']) {
    const place = new URL(folder, import.meta.resolve('@kubernetes/client-node'))
    for (const file of await readdir(fileURLToPath(place))) {
      if (!file.endsWith('.js')) continue
      await import(new URL(file, place).href)
      await setImmediate()
    }
  }
  return import('@kubernetes/client-node')
}
