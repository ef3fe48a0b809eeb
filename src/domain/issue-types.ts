/** What an issue counts as. Sources decide by it, and so do previews of their rules. */

export const COUNTED_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT'] as const

/** The type that the tool or a label tells; only if they tell none, the text of the issue can make it an incident. */
export const typeOrText = (type: string, isIncidentText: () => boolean): string => {
  // A part of another issue is no incident of its own.
  const isTold = [...COUNTED_TYPES, 'SUBTASK'].some((word) => word === type.toUpperCase())
  return !isTold && isIncidentText() ? 'INCIDENT' : type
}
