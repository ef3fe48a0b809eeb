/** The CSV files that can be imported: what their columns mean beyond those of the table, and whose rows they replace. */
import type { AnyTable, TableRow } from '../../database/table.ts'
import { issueCommits, issueRepoCommits } from '../../domain/crossdomain.ts'
import { domainId } from '../../domain/ids.ts'
import { qaApis, qaProjects, qaTestCaseExecutions, qaTestCases } from '../../domain/qa.ts'
import {
  boardIssues,
  boardSprints,
  boards,
  issueChangelogs,
  issueLabels,
  issues,
  issueWorklogs,
  sprintIssues,
  sprints,
} from '../../domain/ticket.ts'

/** Cells by column; null where the file says NULL. */
export type Values = Readonly<Record<string, string | boolean | null>>

/** What a file is imported for: a board, or a project of a test tool. */
export interface Owner {
  /** Fields of the upload. */
  readonly idField: 'boardId' | 'qaProjectId'
  readonly nameField: 'boardName' | 'qaProjectName'
  readonly row: (id: string, name: string) => TableRow
}
const BOARD: Owner = {
  idField: 'boardId',
  nameField: 'boardName',
  row: (id, name) => boards.row({ id, name, type: 'csv', _raw_data_params: id }),
}
const QA_PROJECT: Owner = {
  idField: 'qaProjectId',
  nameField: 'qaProjectName',
  // DevLake leaves its origin empty.
  row: (id, name) => qaProjects.row({ id, name }),
}

/** What is deleted before a whole import. */
export interface Clearing {
  /** Tables, and in each the column that names the member (an issue or a sprint) or, without links, the owner. */
  readonly parts: readonly (readonly [table: AnyTable, column: string])[]
  /** Where members belong to boards: one that belongs to another board too is not touched. */
  readonly links?: {
    readonly table: AnyTable
    readonly member: string
    /** The file says itself which members the board has. */
    readonly isReplaced?: boolean
  }
}

export interface CsvFile {
  readonly name: string
  /** Of these tables a line makes a row each; columns of the file are those of the first. */
  readonly tables: readonly [AnyTable, ...AnyTable[]]
  readonly owner: Owner
  /** The upload must name the owner, whose row is written. */
  readonly isNamed?: boolean
  /** A new file replaces the last one; it cannot add to it. */
  readonly isAlwaysWhole?: boolean
  /** Columns that may not be empty, besides the key. */
  readonly needed?: readonly string[]
  readonly people?: readonly Person[]
  /** Column with words separated by commas → the rows that these make; they replace those of the same line's id. */
  readonly lists?: Readonly<Record<string, List>>
  /** Columns that follow from others. */
  readonly adds?: Readonly<Record<string, (values: Values, ownerId: string) => Values[string]>>
  readonly links?: (values: Values, ownerId: string) => TableRow
  readonly clears: Clearing
}
/** A column with somebody's name, and the one that gets the id of an account of that name. */
export interface Person {
  readonly name: string
  readonly id: string
  /** Only on these lines. */
  readonly when?: (values: Values) => boolean
}
export interface List {
  readonly table: AnyTable
  /** The column that holds the line's id. */
  readonly by: string
  readonly row: (id: string, word: string, ownerId: string) => TableRow
}

const ofIssues = (...tables: readonly AnyTable[]): Clearing => ({
  parts: tables.map((table) => [table, 'issue_id']),
  links: { table: boardIssues, member: 'issue_id' },
})
const ofQaProject = (...tables: readonly AnyTable[]): Clearing => ({
  parts: tables.map((table) => [table, 'qa_project_id']),
})
const creator: Person = { name: 'creator_name', id: 'creator_id' }
const author: Person = { name: 'author_name', id: 'author_id' }
const qa_project_id = (_values: Values, ownerId: string) => ownerId
const isOfAssignee = ({ field_name }: Values) => field_name === 'assignee'

export const csvFiles: readonly CsvFile[] = [
  {
    name: 'issues.csv',
    tables: [issues],
    owner: BOARD,
    isNamed: true,
    people: [creator, { name: 'assignee_name', id: 'assignee_id' }],
    lists: {
      labels: {
        table: issueLabels,
        by: 'issue_id',
        row: (issue_id, label_name, ownerId) => issueLabels.row({ issue_id, label_name, _raw_data_params: ownerId }),
      },
      sprint_ids: {
        table: sprintIssues,
        by: 'issue_id',
        row: (issue_id, sprint_id) => sprintIssues.row({ sprint_id, issue_id }),
      },
    },
    links: ({ id }, board_id) => boardIssues.row({ board_id, issue_id: id as string }),
    clears: {
      parts: [
        [issues, 'id'],
        [issueLabels, 'issue_id'],
        [sprintIssues, 'issue_id'],
      ],
      links: { table: boardIssues, member: 'issue_id', isReplaced: true },
    },
  },
  {
    name: 'issue_commits.csv',
    tables: [issueCommits],
    owner: BOARD,
    isAlwaysWhole: true,
    clears: ofIssues(issueCommits),
  },
  {
    name: 'issue_repo_commits.csv',
    tables: [issueRepoCommits, issueCommits],
    owner: BOARD,
    clears: ofIssues(issueRepoCommits, issueCommits),
  },
  {
    name: 'sprints.csv',
    tables: [sprints],
    owner: BOARD,
    adds: { original_board_id: ({ original_board_id }, ownerId) => original_board_id || ownerId },
    links: ({ id }, board_id) => boardSprints.row({ board_id, sprint_id: id as string }),
    clears: {
      parts: [[sprints, 'id']],
      links: { table: boardSprints, member: 'sprint_id', isReplaced: true },
    },
  },
  {
    name: 'issue_changelogs.csv',
    tables: [issueChangelogs],
    owner: BOARD,
    needed: ['field_name'],
    people: [
      author,
      // A change of assignee names people; everywhere else they are known by their accounts.
      { name: 'original_from_value', id: 'original_from_value', when: isOfAssignee },
      { name: 'original_to_value', id: 'original_to_value', when: isOfAssignee },
    ],
    adds: { field_id: ({ field_name = null }) => field_name },
    clears: ofIssues(issueChangelogs),
  },
  {
    name: 'issue_worklogs.csv',
    tables: [issueWorklogs],
    owner: BOARD,
    people: [author],
    clears: ofIssues(issueWorklogs),
  },
  {
    name: 'qa_apis.csv',
    tables: [qaApis],
    owner: QA_PROJECT,
    people: [creator],
    adds: { qa_project_id },
    clears: ofQaProject(qaApis),
  },
  {
    name: 'qa_test_cases.csv',
    tables: [qaTestCases],
    owner: QA_PROJECT,
    isNamed: true,
    people: [creator],
    adds: { qa_project_id },
    // Whoever imports the test cases again imports the rest after them.
    clears: ofQaProject(qaTestCases, qaApis, qaTestCaseExecutions),
  },
  {
    name: 'qa_test_case_executions.csv',
    tables: [qaTestCaseExecutions],
    owner: QA_PROJECT,
    people: [creator],
    adds: { qa_project_id, is_invalid: ({ is_invalid }) => is_invalid || false },
    clears: ofQaProject(qaTestCaseExecutions),
  },
]

/** People are known by name only. */
export const csvAccountId = (name: string): string => domainId('csv:CsvAccount:0', name)
