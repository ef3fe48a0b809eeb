/** What a source offers for collection: a tree of groups with scopes in them. */
import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { ApiClient } from '../http/index.ts'
import type { Settings } from './fields.ts'

export interface RemoteEntry {
  readonly type: 'group' | 'scope'
  /** The group it was listed in; null at the root and in search results. */
  readonly parentId: string | null
  readonly id: string
  readonly name: string
  readonly fullName: string
  /** Of a scope: what is put to `scopes` when it is chosen. */
  readonly data: Settings | null
  /** For choosing by rule. */
  readonly archived?: boolean
  readonly topics?: readonly string[]
}

export interface RemoteQuestion {
  readonly client: ApiClient
  readonly settings: Settings
  readonly signal: AbortSignal
}
export interface RemoteScopes {
  /**
   * One page of a group, or of the root. `next`: what finds the next page, an object that JSON can hold; absent after the
   * last. `page` is the `next` of the page before; absent for the first.
   */
  list(
    question: RemoteQuestion & { readonly group?: string; readonly page?: RawRecord },
  ): Promise<{ readonly children: readonly RemoteEntry[]; readonly next?: object | undefined }>
  /** Scopes by part of their name; `page` counts from 1. */
  search?(
    question: RemoteQuestion & { readonly search: string; readonly page: number; readonly pageSize: number },
  ): Promise<{ readonly children: readonly RemoteEntry[]; readonly count?: number }>
}

/** What a connection test found out, beyond that the server answered. */
export interface ConnectionCheck {
  readonly success: boolean
  readonly message?: string
  /** Further fields of the answer; secrets in it are masked already. */
  readonly details?: Settings
}

/** How a connection test is to be made. */
export interface CheckQuestion {
  readonly isSaved: boolean
  readonly signal: AbortSignal
  /** A client for these settings; close it. */
  open(settings: Settings): ApiClient
  mask(secret: string): string
}

export type CheckConnection = (settings: Settings, question: CheckQuestion) => Promise<ConnectionCheck>

/** Reads an answer that may come from something else than the source; then the endpoint is to blame, not the reader. */
export async function readAnswer<Result>(title: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw notThere(title, error)
  }
}

/** Something answers, but not the source. */
export const notThere = (title: string, cause?: unknown): UserError =>
  new UserError(`The endpoint does not answer as ${title} does: check its address.`, { status: 502, cause })
