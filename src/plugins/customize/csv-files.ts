/** The CSV files that can be imported: the meaning of columns that the table does not have, and the rows that each file replaces. */
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

/** Cells by column. Null where the file contains NULL. */
export type Values = Readonly<Record<string, string | boolean | null>>

/** The owner of the imported rows: a board, or a project of a test tool. */
interface Owner {
  /** Names of the fields of the upload. */
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
  // As in DevLake, the origin is empty.
  row: (id, name) => qaProjects.row({ id, name }),
}

/** The rows that are deleted before a full import. */
interface Clearing {
  /** Tables, each with the column that names the member (an issue or a sprint) or, if there are no `links`, the owner. */
  readonly parts: readonly (readonly [table: AnyTable, column: string])[]
  /** For members that belong to boards. A member that also belongs to another board is not touched. */
  readonly links?: {
    readonly table: AnyTable
    readonly member: string
    /** The file itself lists the members of the board. */
    readonly isReplaced?: boolean
  }
}

export interface CsvFile {
  readonly name: string
  /** A line makes one row of each of these tables. The columns of the file are those of the first table. */
  readonly tables: readonly [AnyTable, ...AnyTable[]]
  readonly owner: Owner
  /** The upload must contain the name of the owner, whose row is then written. */
  readonly isNamed?: boolean
  /** A new file always replaces the last one, and cannot add to it. */
  readonly isAlwaysWhole?: boolean
  /** Columns that may not be empty, besides the key. */
  readonly needed?: readonly string[]
  readonly people?: readonly Person[]
  /** Rows that are made from a column with words separated by commas. They replace earlier rows with the same id as the line. */
  readonly lists?: Readonly<Record<string, List>>
  /** Columns that are calculated from others. */
  readonly adds?: Readonly<Record<string, (values: Values, ownerId: string) => Values[string]>>
  readonly links?: (values: Values, ownerId: string) => TableRow
  readonly clears: Clearing
}
/** A column with a person's name, and the column that gets the id of an account with that name. */
interface Person {
  readonly name: string
  readonly id: string
  /** Only on lines for which this holds. */
  readonly when?: (values: Values) => boolean
}
interface List {
  readonly table: AnyTable
  /** The column that holds the id of the line. */
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
      // Only changes of the assignee contain names of people here.
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
    // Test cases come first: importing them again also deletes the rest, which has to be imported after them.
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

/** Returns the id of an account, which is made from the name because nothing else is known about the person. */
export const csvAccountId = (name: string): string => domainId('csv:CsvAccount:0', name)
