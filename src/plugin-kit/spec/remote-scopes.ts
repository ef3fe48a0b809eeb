/** The scopes that a source offers for collection: a tree of groups with scopes in them. */
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
  /** For a scope: the data that is sent to `scopes` when it is chosen. */
  readonly data: Settings | null
  /** This and `topics` serve rules that choose scopes. */
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
   * One page of a group, or of the root. `next`: an object that leads to the next page, and can be written as JSON; absent after
   * the last page. `page` is the `next` of the previous page; absent for the first.
   */
  list(
    question: RemoteQuestion & { readonly group?: string; readonly page?: RawRecord },
  ): Promise<{ readonly children: readonly RemoteEntry[]; readonly next?: object | undefined }>
  /** Finds scopes by a part of their name; `page` counts from 1. */
  search?(
    question: RemoteQuestion & { readonly search: string; readonly page: number; readonly pageSize: number },
  ): Promise<{ readonly children: readonly RemoteEntry[]; readonly count?: number }>
}

/** Result of a connection test whose server answered. */
export interface ConnectionCheck {
  readonly success: boolean
  readonly message?: string
  /** Further fields of the answer; secrets in them are already masked. */
  readonly details?: Settings
}

/** The circumstances of a connection test. */
export interface CheckQuestion {
  readonly isSaved: boolean
  readonly signal: AbortSignal
  /** Opens a client for these settings; the caller must close it. */
  open(settings: Settings): ApiClient
  mask(secret: string): string
}

export type CheckConnection = (settings: Settings, question: CheckQuestion) => Promise<ConnectionCheck>

/** Reads an answer that may come from another server than the source. A TypeError then means that the endpoint is wrong. */
export async function readAnswer<Result>(title: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw notThere(title, error)
  }
}

/** The error for an endpoint where something other than the source answers. */
export const notThere = (title: string, cause?: unknown): UserError =>
  new UserError(`The endpoint does not answer as ${title} does: check its address.`, { status: 502, cause })
