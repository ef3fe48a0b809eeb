/** Tables for dashboards that users composed, and for public links to dashboards. */
import {
  bigint,
  defineTable,
  generated,
  indexed,
  json,
  key,
  string,
  timestamp,
  unique,
  whole,
  written,
} from '../database/table.ts'

export const ownDashboards = defineTable(
  '_weir_own_dashboards',
  {
    id: generated(key(bigint())),
    title: string(100),
    question: string(255),
    panels: whole(json()),
    maker_id: string(),
    maker: string(),
    ...written,
  },
  { meaning: 'A dashboard that somebody arranged from panels of others.' },
)

export const sharedDashboards = defineTable(
  '_weir_shared_dashboards',
  {
    id: generated(key(bigint())),
    /** The digest of the token in its address. The token itself is stored nowhere. */
    token_digest: unique(string(64)),
    dashboard: indexed(string(100)),
    title: string(100),
    variables: whole(json()),
    range_from: string(60),
    range_to: string(60),
    maker_id: string(),
    maker: string(),
    expires_at: timestamp(),
    ...written,
  },
  { meaning: 'A public link to a dashboard with fixed values; it ends when its row is deleted.' },
)
