export { ClosedAddress, curlPin, openAddresses, requireOpenEndpoint } from './address-guard.ts'
export { type ApiClient, type ApiClientOptions, createApiClient } from './api-client.ts'
export type { RateLimits } from './budget.ts'
export { DEFAULT_CONCURRENCY } from './budget.ts'
export type { BudgetStore, QuotaGrant, QuotaReport } from './budget-store.ts'
export type { Credential, RefreshedCredential, RefreshingCredential } from './credential-slot.ts'
export {
  HttpFatalError,
  HttpForbiddenError,
  HttpMisleadingError,
  HttpRetryableError,
  isHeavy,
  isOfRequest,
} from './failure.ts'
export { graphql, graphqlRequest, quotaFromGraphql } from './graphql.ts'
export { guardedFetch } from './guarded-fetch.ts'
export type { HttpEvent } from './http-event.ts'
export { type HttpRequest, type HttpResponse, type Query, safeUrl, type Verdict } from './http-message.ts'
export { groupsOf, plainAddress } from './ip-address.ts'
export { listIn, unexpectedForm } from './list-in.ts'
export type { Page } from './pages.ts'
export {
  byTime,
  cursor,
  linkHeader,
  nextUrl,
  type Older,
  offset,
  type PageState,
  type Paging,
  pageNumber,
  pastLastPage,
  singlePage,
  upTo,
} from './paging.ts'
export { quotaFromHeaders } from './quota-reader.ts'
export { createSharedConnections } from './shared-connections.ts'
export { createSlots, type Slots } from './slots.ts'
export { type DateWindow, splitByDate } from './split-by-date.ts'
export { createTransport, type Exchange, ExchangeFailed } from './transport.ts'
