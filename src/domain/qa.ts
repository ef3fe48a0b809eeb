/** Test cases and their runs. */
import { boolean, common, defineTable, indexed, key, string, timestamp, zeroTime } from '../database/table.ts'

export const qaProjects = defineTable(
  'qa_projects',
  {
    id: key(string(500)),
    name: string(),
    ...common,
  },
  { meaning: 'A project of a test management tool.' },
)

export const qaApis = defineTable(
  'qa_apis',
  {
    id: key(string(500)),
    name: string(),
    path: string(),
    method: string(),
    create_time: zeroTime(timestamp()),
    creator_id: string(),
    qa_project_id: indexed(string()),
    ...common,
  },
  { meaning: 'An interface under test.' },
)

export const qaTestCases = defineTable(
  'qa_test_cases',
  {
    id: key(string(500)),
    name: string(),
    create_time: zeroTime(timestamp()),
    creator_id: string(),
    type: string(),
    qa_api_id: string(),
    qa_project_id: indexed(string()),
    ...common,
  },
  { meaning: 'A test case, of a function or of an interface.' },
)

export const qaTestCaseExecutions = defineTable(
  'qa_test_case_executions',
  {
    id: key(string(500)),
    qa_project_id: indexed(string()),
    qa_test_case_id: indexed(string()),
    create_time: zeroTime(timestamp()),
    start_time: zeroTime(timestamp()),
    finish_time: zeroTime(timestamp()),
    creator_id: string(),
    status: string(),
    is_invalid: boolean(),
    ...common,
  },
  { meaning: 'One run of a test case.' },
)
