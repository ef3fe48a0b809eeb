/** Accounts in tools, the people who own them, and their teams. */
import { bigint, common, defineTable, indexed, key, string, timestamp } from '../database/table.ts'

export const accounts = defineTable(
  'accounts',
  {
    id: key(string()),
    email: string(),
    full_name: string(),
    user_name: string(),
    avatar_url: string(),
    organization: string(),
    created_date: timestamp(),
    status: bigint(),
    ...common,
  },
  { meaning: 'A person as one tool knows them.' },
)

export const users = defineTable(
  'users',
  {
    id: key(string()),
    email: indexed(string()),
    name: indexed(string()),
    ...common,
  },
  { meaning: 'A real person, who may own accounts in several tools.' },
)

export const userAccounts = defineTable(
  'user_accounts',
  {
    account_id: key(string()),
    user_id: string(),
    ...common,
  },
  { meaning: 'The person who owns an account.' },
)

export const teams = defineTable(
  'teams',
  {
    id: key(string()),
    name: string(),
    alias: string(),
    parent_id: string(),
    sorting_index: bigint(),
    ...common,
  },
  { meaning: 'A team; `parent_id` makes a tree.' },
)

export const teamUsers = defineTable(
  'team_users',
  {
    team_id: key(string()),
    user_id: key(string()),
    ...common,
  },
  { meaning: 'Who belongs to a team.' },
)
