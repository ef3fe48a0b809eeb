/** Values of a Helm chart, from which its templates make the Ingress and the binding, as docs/traffic.md shows. */
import { isMap } from 'yaml'
import { byName } from '../../basics/by-name.ts'
import { actionKey, type ForwardAction } from '../model/action.ts'
import { parsedAction } from '../model/action-text.ts'
import { TrafficError } from '../model/finding.ts'
import type { IngressEdit } from '../model/ingress.ts'
import { annotationsOfBranch, refuseHandWork } from './branch-edit.ts'
import { type Form, type FormSettings, missingObject } from './form.ts'
import type { Changes, Tree } from './repository.ts'
import { plainValue, readYamlFile, removeIn, setIn, withDocument } from './yaml-file.ts'

interface Values {
  readonly actionName?: string
  readonly attached?: boolean
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly binding?: unknown
}

const NONE: Changes = new Map()

/** Undefined also for anything else that somebody left there by hand. */
function weightsIn(text: unknown): { current: number; target: number } | undefined {
  const groups = (parsedAction(text) as Partial<ForwardAction> | null | undefined)?.forwardConfig?.targetGroups
  if (!Array.isArray(groups)) return undefined
  const [current, target] = groups
  return { current: current?.weight ?? 0, target: target?.weight ?? 0 }
}

export function helmForm(settings: FormSettings): Form {
  const { path, where } = settings
  const keys = settings.key.split('.')

  async function open(tree: Tree) {
    const text = await tree.read(path)
    if (text === undefined)
      throw new TrafficError(
        'conflict',
        `There is no file ${path} in ${where}. Nothing was committed. Correct the path in gitops.`,
      )
    const file = readYamlFile(`${path} of ${where}`, text)
    const document = file.documents[0]
    if (file.documents.length !== 1 || !isMap(document!.contents))
      throw new TrafficError('conflict', `${path} of ${where} is no file of values. Nothing was committed.`)
    const all = plainValue(document!) as Record<string, unknown>
    const values = keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], all)
    return { file, document: document!, values: (values ?? {}) as Values }
  }
  const write = ({ file, document }: Awaited<ReturnType<typeof open>>, values: object): Changes => {
    if (Object.keys(values).length === 0) removeIn(document, keys, 0)
    else setIn(document, keys, { switch: settings.name, ...values })
    return new Map([[path, withDocument(file, document)]])
  }
  const own = ({ actionName, attached, annotations, binding }: Values): Record<string, unknown> => {
    const weights = weightsIn(annotations?.[actionKey(actionName ?? '')])
    const values = Object.entries({ actionName, attached, weights, annotations, binding })
    const present = values.filter(([, value]) => value !== undefined)
    // The name of the action alone says nothing.
    return present.length === 1 && actionName !== undefined ? {} : Object.fromEntries(present)
  }
  /** Paths lead to the action as soon as one of them is sent there. */
  const attachedAfter = ({ backends }: IngressEdit, before: boolean | undefined): boolean | undefined => {
    const [first] = backends
    if (first === undefined) return before
    return first.after.service?.port?.name === 'use-annotation' ? true : undefined
  }
  const actionIn = ({ annotations }: IngressEdit): string | undefined =>
    annotations.find(({ key }) => key.startsWith(actionKey('')))?.key.slice(actionKey('').length)

  return {
    annotations: async (tree) => (await open(tree)).values.annotations ?? {},
    // The chart has the Ingress, and only Helm can render it.
    ingress: async (tree) => void (await open(tree)),
    async change(tree, live, edit, overridesDrift) {
      const opened = await open(tree)
      const found = opened.values.annotations ?? {}
      const problems: string[] = []
      // Annotations that are not in the values come from the chart itself; they are no manual edits.
      const chart = edit.annotations.filter(({ key }) => !(key in found)).map(({ key, before }) => [key, before])
      const annotations = annotationsOfBranch({ ...Object.fromEntries(chart), ...found }, edit, problems).filter(
        ({ key, after }) => key in found || after !== undefined,
      )
      if (!overridesDrift) refuseHandWork(`Ingress ${live.metadata.name} in ${path} of ${where}`, problems)
      const attached = attachedAfter(edit, opened.values.attached)
      if (annotations.length === 0 && attached === opened.values.attached) return NONE
      const after: Record<string, unknown> = byName({ ...found })
      for (const { key, after: value } of annotations) {
        if (value === undefined) delete after[key]
        else after[key] = value
      }
      const kept = Object.keys(after).length === 0 ? undefined : after
      const actionName = actionIn(edit) ?? opened.values.actionName
      const next = { ...(actionName === undefined ? {} : { actionName }), binding: opened.values.binding }
      return write(
        opened,
        own({ ...next, ...(attached && { attached }), ...(kept === undefined ? {} : { annotations: kept }) }),
      )
    },
    async put(tree, object) {
      if (object.kind === 'Ingress')
        throw missingObject(settings, {
          kind: 'Ingress',
          name: object.metadata.name,
          namespace: object.metadata.namespace,
        })
      const opened = await open(tree)
      if (JSON.stringify(opened.values.binding) === JSON.stringify(object)) return NONE
      return write(opened, own({ ...opened.values, binding: object }))
    },
    async remove(tree, { kind, name, namespace }) {
      if (kind === 'Ingress') throw missingObject(settings, { kind, name, namespace })
      const opened = await open(tree)
      if (opened.values.binding === undefined) return NONE
      return write(opened, own({ ...opened.values, binding: undefined }))
    },
  }
}
