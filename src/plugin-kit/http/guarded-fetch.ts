import type { Agent } from 'undici'
import { guardedLookup, requireOpenAddress } from './address-guard.ts'

let agent: Agent | undefined

/** `fetch` for libraries, only to addresses that are not blocked. It follows no redirects, because they may lead elsewhere. */
export const guardedFetch = (async (address: string, options: object) => {
  requireOpenAddress(new URL(address))
  const undici = await import('undici')
  agent ??= new undici.Agent({ connect: { lookup: guardedLookup } })
  return undici.fetch(address, { ...options, redirect: 'manual', dispatcher: agent })
}) as unknown as (address: string, options: object) => Promise<Response>
