/** What an issue counts as. Sources decide by it, and so do previews of their rules. */

export const ISSUE_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT'] as const
export type IssueType = (typeof ISSUE_TYPES)[number]

/** In any letter case; undefined if the word is no such type. */
export const issueTypeNamed = (word: string): IssueType | undefined =>
  ISSUE_TYPES.find((type) => type === word.toUpperCase())

/** The type that the tool or a label tells; only if they tell none, the text of the issue can make it an incident. */
export const typeOrText = (type: string, isIncidentText: () => boolean): string =>
  type !== 'SUBTASK' && !issueTypeNamed(type) && isIncidentText() ? 'INCIDENT' : type
