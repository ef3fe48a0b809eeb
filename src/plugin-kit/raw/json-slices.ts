/** Finds the bytes of values in a JSON text, because records are stored as they were sent and not as we would write them. */

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
const SPACE = 0x20

/** A wanted value, or one that contains wanted values, with its children by position in a list or by name. */
interface Branch {
  readonly value: object
  readonly children: Map<string | number, Branch>
}

/**
 * Returns the bytes of `values`, which are objects or lists in `body`; `body` is the parsed form of `bytes`. A value that is not
 * part of `body`, because it was made in another way, is missing in the result.
 */
export function slicesOf(bytes: Uint8Array, body: unknown, values: readonly unknown[]): Map<unknown, Buffer> {
  const slices = new Map<unknown, Buffer>()
  const wanted = new Set(values.filter((value) => value !== null && typeof value === 'object'))
  const root = branchesTo(body, wanted)
  if (root) take(afterSpace(bytes, 0), root)
  return slices

  /** Returns the position after the value that begins at `start`. */
  function take(start: number, branch: Branch): number {
    const end = wanted.has(branch.value)
      ? endOf(bytes, start)
      : bytes[start] === OPEN_LIST
        ? takeList(start, branch.children)
        : takeObject(start, branch.children)
    if (wanted.has(branch.value)) {
      slices.set(branch.value, Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start))
    }
    return end
  }

  function takeList(start: number, children: Branch['children']): number {
    let at = afterSpace(bytes, start + 1)
    for (let position = 0; at < bytes.length && bytes[at] !== CLOSE_LIST; position++) {
      const branch = children.get(position)
      at = afterSpace(bytes, branch ? take(at, branch) : endOf(bytes, at))
      if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1)
    }
    return at + 1
  }

  function takeObject(start: number, children: Branch['children']): number {
    let at = afterSpace(bytes, start + 1)
    while (at < bytes.length && bytes[at] !== CLOSE_OBJECT) {
      const nameEnd = endOf(bytes, at)
      const name = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + at, nameEnd - at).toString())
      // If a name occurs twice, the later value counts, as in the parser.
      const branch = children.get(name)
      // Skips the colon.
      at = afterSpace(bytes, afterSpace(bytes, nameEnd) + 1)
      at = afterSpace(bytes, branch ? take(at, branch) : endOf(bytes, at))
      if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1)
    }
    return at + 1
  }
}

/** Finds the paths from the root to all wanted values. Goes level by level, since records are near the top of long answers. */
function branchesTo(body: unknown, wanted: ReadonlySet<unknown>): Branch | undefined {
  if (body === null || typeof body !== 'object' || wanted.size === 0) return undefined
  interface Step {
    readonly value: object
    readonly parent: Step | undefined
    readonly position: string | number
    branch?: Branch
  }
  const root: Step = { value: body, parent: undefined, position: '' }
  const branchOf = (step: Step): Branch => {
    if (!step.branch) {
      step.branch = { value: step.value, children: new Map() }
      if (step.parent) branchOf(step.parent).children.set(step.position, step.branch)
    }
    return step.branch
  }
  let missing = wanted.size
  for (let level: Step[] = [root]; missing > 0 && level.length > 0; ) {
    const next: Step[] = []
    for (const step of level) {
      if (wanted.has(step.value)) {
        branchOf(step)
        missing--
        continue
      }
      const { value } = step
      const add = (child: unknown, position: string | number) => {
        if (child !== null && typeof child === 'object') next.push({ value: child, parent: step, position })
      }
      if (Array.isArray(value)) value.forEach(add)
      else for (const [name, child] of Object.entries(value)) add(child, name)
    }
    level = next
  }
  return root.branch
}

function afterSpace(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  return at
}

/** The position after the value that begins at `start`. The text is known to be valid JSON. */
function endOf(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at++
      // Most of the time is spent here, so there is no call, and only the two bytes that matter are checked.
      for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--
    else if (depth > 0) continue
    else return endOfWord(bytes, at)
    if (depth === 0) return at + 1
  }
  return bytes.length
}

/** The position after a number, true, false or null. */
function endOfWord(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT) break
    at++
  }
  return at
}
