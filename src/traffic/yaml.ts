import { isCollection, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml'
import { messageOf } from '../errors.ts'
import { type Finding, finding } from './finding.ts'

export interface YamlDocument {
  readonly value: unknown
  /** Line of a field, or of the nearest field above it that exists. */
  lineOf(path: string): number | undefined
}

export type ReadDocument = YamlDocument | { readonly problem: Finding }

/** Every document of the text; one that cannot be read is a finding with its line. */
export function readYaml(text: string): readonly ReadDocument[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true })
  return [...documents].flatMap((document): readonly ReadDocument[] => {
    const broken = document.errors[0]
    if (broken !== undefined) {
      const line = broken.linePos?.[0].line
      const problem = finding('TS-Y01', '(file)', broken.message.split('\n')[0]!.replace(/ at line.*/s, ''))
      return [{ problem: line === undefined ? problem : { ...problem, line } }]
    }
    if (document.contents === null) return []
    const lineOf = (path: string): number | undefined => {
      let node: unknown = document.contents
      let offset = document.contents?.range?.[0]
      for (const part of path.match(/"[^"]+"|[^.[\]"]+/g) ?? []) {
        if (!isCollection(node)) break
        const key = part.startsWith('"') ? part.slice(1, -1) : /^\d+$/.test(part) ? Number(part) : part
        const pair = isMap(node)
          ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
          : undefined
        const child: any = pair === undefined ? node.get(key, true) : pair.value
        if (pair === undefined && child === undefined) break
        offset = (pair === undefined ? child?.range?.[0] : (pair.key as any)?.range?.[0]) ?? offset
        node = child
      }
      return offset === undefined ? undefined : lines.linePos(offset).line
    }
    try {
      return [{ value: document.toJS() as unknown, lineOf }]
    } catch (error) {
      // An alias without its anchor, or too many of them, shows only when values are made.
      return [{ problem: finding('TS-Y01', '(file)', messageOf(error)) }]
    }
  })
}
