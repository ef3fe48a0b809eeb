import type { AnswerTo } from '../api/ask.ts'

export type Webhook = AnswerTo<'GET /plugins/webhook/connections'>[number]
