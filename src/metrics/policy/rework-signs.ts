/** The signs by which a deployment counts as rework, each with the words for what it brought. */
export const REWORK_SIGNS = {
  revert: 'a revert',
  hotfix: 'a hotfix',
  bug: 'a repair of a bug',
  incident: 'a repair of an incident',
} as const
export type ReworkSign = keyof typeof REWORK_SIGNS
