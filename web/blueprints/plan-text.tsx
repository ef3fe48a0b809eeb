/** A text editor for plans; loaded only where a plan is written. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { completePlan, type PluginWords } from './plan-completion.ts'
import { nodeAt } from './plan-places.ts'

interface PlanProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly severity: 'error' | 'odd'
}
export interface PlacedProblem extends PlanProblem {
  readonly line: number
}

interface PlanTextProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly plugins: readonly PluginWords[]
  readonly check: (plan: unknown) => Promise<readonly PlanProblem[]>
  readonly onProblems: (problems: readonly PlacedProblem[]) => void
  readonly isReadOnly: boolean
}

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--accent)', padding: '8px 0', minHeight: '240px' },
  '.cm-scroller': { overflow: 'auto', maxHeight: '60vh', lineHeight: '1.6' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--text-faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-ground) !important',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line-strong)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-ground)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text-faint)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--attention)' },
})
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-1)' },
  { tag: [tags.bracket, tags.separator], color: 'var(--text-faint)' },
])

const syntaxProblem = jsonParseLinter()

export default function PlanText({ text, onText, plugins, check, onProblems, isReadOnly }: PlanTextProps) {
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const first = useRef(text)
  // The editor is created once, but must call the functions that the page has now.
  const now = useRef({ onText, plugins, check, onProblems })
  now.current = { onText, plugins, check, onProblems }
  useEffect(() => {
    const findProblems = async (editor: EditorView): Promise<Diagnostic[]> => {
      const [broken] = syntaxProblem(editor)
      const { doc } = editor.state
      if (broken) {
        const message = `This is not JSON: ${broken.message}`
        const place = { path: [], message, severity: 'error' as const }
        now.current.onProblems([{ ...place, line: doc.lineAt(broken.from).number }])
        return [{ ...broken, message }]
      }
      const found = await now.current.check(JSON.parse(doc.toString()))
      const placed = found.map((problem) => ({ problem, ...nodeAt(editor.state, problem.path) }))
      now.current.onProblems(placed.map(({ problem, from }) => ({ ...problem, line: doc.lineAt(from).number })))
      return placed.map(({ problem: { message, severity }, from, to }) => ({
        from,
        to,
        message,
        severity: severity === 'error' ? 'error' : 'warning',
      }))
    }
    const editor = new EditorView({
      parent: box.current as HTMLDivElement,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          indentUnit.of('  '),
          json(),
          syntaxHighlighting(colours),
          look,
          autocompletion({ override: [(context) => completePlan(context, now.current.plugins)], icons: false }),
          linter(findProblems, { delay: 350 }),
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...completionKeymap,
            ...lintKeymap,
            indentWithTab,
          ]),
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': 'Plan' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onText(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [isReadOnly])
  useEffect(() => {
    const editor = view.current
    // The text was changed outside of the editor: by a template, or because changes were discarded.
    if (editor && editor.state.doc.toString() !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])
  return <div ref={box} className="editor" />
}
