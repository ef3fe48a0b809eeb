import type { Agent } from 'undici'
import { guardedLookup, requireOpenAddress } from './address-guard.ts'

let agent: Agent | undefined

/** `fetch` for libraries that bring none of their own, to open addresses only; it follows no redirects, which may lead elsewhere. */
export const guardedFetch = (async (address: string, options: object) => {
  requireOpenAddress(new URL(address))
  const undici = await import('undici')
  agent ??= new undici.Agent({ connect: { lookup: guardedLookup } })
  return undici.fetch(address, { ...options, redirect: 'manual', dispatcher: agent })
}) as unknown as (address: string, options: object) => Promise<Response>
