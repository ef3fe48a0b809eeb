import type { ForwardAction } from './action.ts'
import { describeValue, textOf } from './names.ts'

/** Parses the text of an action; text that is not JSON is returned as it is. */
export const parsedAction = (text: unknown): unknown => {
  try {
    return JSON.parse(textOf(text))
  } catch {
    return text
  }
}

/** The weights of an action in words, or a description of what is there instead. */
export function weightsText(action: unknown): string {
  const groups = (action as Partial<ForwardAction> | null | undefined)?.forwardConfig?.targetGroups
  return Array.isArray(groups) ? groups.map((group) => group?.weight).join('/') : describeValue(action)
}
