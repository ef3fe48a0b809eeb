import type { ForwardAction } from './action.ts'
import { describeValue, textOf } from './names.ts'

/** An action as somebody left it: parsed where it is JSON. */
export const parsedAction = (text: unknown): unknown => {
  try {
    return JSON.parse(textOf(text))
  } catch {
    return text
  }
}

/** Its weights in words, or what stands there instead. */
export function weightsText(action: unknown): string {
  const groups = (action as Partial<ForwardAction> | null | undefined)?.forwardConfig?.targetGroups
  return Array.isArray(groups) ? groups.map((group) => group?.weight).join('/') : describeValue(action)
}
