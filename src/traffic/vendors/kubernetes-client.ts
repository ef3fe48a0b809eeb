import { readdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

type KubernetesClient = typeof import('@kubernetes/client-node')
let loading: Promise<KubernetesClient> | undefined

/** Loaded when it is first needed: most servers never switch traffic. */
export function kubernetesClient(): Promise<KubernetesClient> {
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
async function load(): Promise<KubernetesClient> {
  for (const folder of ['gen/models/', 'gen/apis/']) {
    const place = placeOf(folder)
    if (!place) break
    for (const file of await readdir(fileURLToPath(place))) {
      if (!file.endsWith('.js')) continue
      await import(new URL(file, place).href)
      await setImmediate()
    }
  }
  return import('@kubernetes/client-node')
}

/** Undefined if the program was bundled, because then the client is inside. */
function placeOf(folder: string): URL | undefined {
  try {
    return new URL(folder, import.meta.resolve('@kubernetes/client-node'))
  } catch {
    return undefined
  }
}
