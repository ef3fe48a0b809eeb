/** Decides what an issue counts as. Sources use it, and so do previews of their rules. */

export const COUNTED_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT'] as const

/** The type according to the tool or a label. Only if these tell none, the text of the issue can make it an incident. */
export const typeOrText = (type: string, isIncidentText: () => boolean): string => {
  // A part of another issue is no separate incident.
  const isTold = [...COUNTED_TYPES, 'SUBTASK'].some((word) => word === type.toUpperCase())
  return !isTold && isIncidentText() ? 'INCIDENT' : type
}
