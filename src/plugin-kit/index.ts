/** Everything that a plugin may import from the kit. */

export { checkPattern, compilePattern, type Pattern } from '../basics/user-patterns.ts'
export { knowing } from '../database/kysely.ts'
export { among, inPieces, onePiece } from '../database/pieces.ts'
export type { Joins } from '../database/read.ts'
export { inChunks } from '../database/read.ts'
export { rowShape } from '../database/rows.ts'
export { parseTime } from '../database/time.ts'
export { retrying, update, write } from '../database/write.ts'
export { definePlugin } from './define/define-plugin.ts'
export { definePushSource } from './define/define-push-source.ts'
export { requireLogin } from './define/required-fields.ts'
export {
  type ApiClient,
  byTime,
  ClosedAddress,
  type Credential,
  createApiClient,
  createTransport,
  curlPin,
  cursor,
  graphql,
  graphqlRequest,
  type HttpRequest,
  type HttpResponse,
  linkHeader,
  nextUrl,
  offset,
  openAddresses,
  type Paging,
  pageNumber,
  quotaFromGraphql,
  quotaFromHeaders,
  type RateLimits,
  type RefreshingCredential,
  safeUrl,
  singlePage,
} from './http/index.ts'
export { type Csv, type CsvRecord, lineError, onLine, openCsv, requireColumns } from './push/csv.ts'
export { unescaped } from './push/csv-text.ts'
export { isSameText, isSignedAsStandard, isSignedBySha256, newStandardSecret } from './push/signatures.ts'
export { putInQuarantine, quarantinedIds, type RejectedRecord, releaseFromQuarantine } from './raw/quarantine.ts'
export { isRawTable, letGo } from './raw/raw-table.ts'
export { calculation } from './spec/calculation.ts'
export {
  codeHostRules,
  historyFields,
  incidentTextField,
  inPanel,
  issueLabelFields,
  issueTitles,
  patternField,
  productionBranchField,
  reviewLabelFields,
} from './spec/code-host.ts'
export type { CollectContext, CollectSpec } from './spec/collect.ts'
export type { DeliveredRecord, DeliverySpec, Effect, News, SentDelivery } from './spec/deliveries.ts'
export {
  type AnyExtractContext,
  type ColumnContext,
  type Entity,
  type EntityContext,
  type ExtractContext,
  type ExtractSpec,
  innerJoin,
  leftJoin,
  pluginKit,
} from './spec/entity.ts'
export type { Field, Fields, Settings, SpokenName } from './spec/fields.ts'
export { fieldName } from './spec/fields.ts'
export { camelKeys, parseExactBytes, pick, sortedJson, valueAt } from './spec/json.ts'
export { byKey, type Lookups, manyByKey, wholeTable } from './spec/lookups.ts'
export {
  DELIVERY_FIELDS,
  deliveryRules,
  type Groups,
  incidentTextRule,
  matches,
  optionalPattern,
  patternText,
} from './spec/patterns.ts'
export type { DomainScope, MetricProject, Plan, PlannedScope, PlanParts, PlanTask } from './spec/plan.ts'
export type { CompletionStep, ExtraStep, Plugin, PluginSpec, Referred, ScopeCheck, SourceTask } from './spec/plugin.ts'
export { type Delivery, fromFields, type Inbox, type Message, oneOf } from './spec/push-source.ts'
export {
  type CheckConnection,
  type CheckQuestion,
  type ConnectionCheck,
  notThere,
  type RemoteEntry,
  type RemoteQuestion,
  type RemoteScopes,
} from './spec/remote-scopes.ts'
export {
  body,
  bounded,
  example,
  id,
  idParameter,
  longText,
  longWords,
  nullAsAbsent,
  queryFlag,
  uploadedFile,
  wholeNumber,
} from './spec/request-values.ts'
export { type LastTasks, type Route, type RouteServer, route } from './spec/route.ts'
export type { FoundName, FoundNames, NameKinds, NameSample, RuleSuggestion, SampledName } from './spec/rule-names.ts'
export type { Subtask, SubtaskKey, SubtaskResult, TaskRun } from './spec/subtask.ts'
export type { TaskOptions } from './spec/task-options.ts'
export { epochMilliseconds } from './spec/times.ts'
export { taskConfig } from './task/config.ts'
export { connectionSettings, credentialsOf, wayOf } from './task/connection.ts'
export { forgetScope } from './task/forget-scope.ts'
export { refreshScope } from './task/refresh-scope.ts'
export { openRememberedText } from './task/remembered-text.ts'
export { eachWhileWriting, inBatches } from './transform/batches.ts'
export { type MarkedRows, openMarkedRows } from './transform/marked-rows.ts'
export { nextStamp } from './transform/window.ts'
