import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { checkServerIdentity, type TLSSocket } from 'node:tls'
import { messageOf, openAddresses } from '../core.ts'

interface Question {
  /** Address of the load balancer; no name is looked up. */
  readonly address: string
  readonly port: number
  readonly isSecure: boolean
  /** The host name, as a browser would send it. */
  readonly host: string
  readonly path: string
}

interface Certificate {
  /** The reason why it is not valid for the host; undefined if it is. */
  readonly problem: string | undefined
  readonly validTo: Date
}

type Answer =
  | {
      readonly status: number
      /** The load balancer itself answered: none of its rules is for this host and path. */
      readonly isBalancers: boolean
      readonly certificate?: Certificate
    }
  | { readonly problem: string }

const TIMEOUT_MS = 5_000

/** Asks a load balancer directly for a host name that may still lead elsewhere. */
export async function askDirectly({ address, port, isSecure, host, path }: Question): Promise<Answer> {
  await openAddresses(address)
  return new Promise((resolve) => {
    const common = { host: address, port, path, method: 'GET', headers: { host, 'user-agent': 'weir-preflight' } }
    const options = { ...common, agent: false as const, timeout: TIMEOUT_MS }
    const asking = isSecure
      ? // The question is about the certificate: a wrong one is an answer, not a failure.
        secureRequest({ ...options, servername: host, rejectUnauthorized: false })
      : plainRequest(options)
    asking.on('response', (response) => {
      response.resume()
      response.on('error', () => undefined)
      const isBalancers = /^awselb/i.test(String(response.headers.server ?? ''))
      const certificate = isSecure ? certificateOf(response.socket as TLSSocket, host) : undefined
      resolve({ status: response.statusCode ?? 0, isBalancers, ...(certificate === undefined ? {} : { certificate }) })
      asking.destroy()
    })
    asking.on('timeout', () => asking.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    asking.on('error', (error) => resolve({ problem: messageOf(error) }))
    asking.end()
  })
}

function certificateOf(socket: TLSSocket, host: string): Certificate | undefined {
  const found = socket.getPeerCertificate()
  if (found.valid_to === undefined) return undefined
  return { problem: checkServerIdentity(host, found)?.message, validTo: new Date(found.valid_to) }
}
