import { Button, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { type ClipboardEvent, useDeferredValue, useMemo, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { RemoteScope } from '../api/description.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count, counted } from '../parts/words.ts'
import { type Choice, HEIGHT } from './choice.ts'
import { type Branch, type RemoteTree, ROOT, useRemoteTree } from './remote-tree.ts'
import { ScopeLine } from './scope-line.tsx'

type Line =
  | { readonly kind: 'group'; readonly group: RemoteScope; readonly depth: number }
  | { readonly kind: 'scope'; readonly scope: RemoteScope; readonly depth: number }
  | { readonly kind: 'state'; readonly key: string; readonly branch: Branch | undefined; readonly depth: number }

const keyOf = (line: Line): string =>
  line.kind === 'group' ? `group ${line.group.id}` : line.kind === 'scope' ? `scope ${line.scope.id}` : line.key

function linesOf(branches: RemoteTree['branches'], open: ReadonlySet<string>, words: string): Line[] {
  const wanted = words.trim().toLowerCase()
  const fits = ({ fullName }: RemoteScope) => wanted === '' || fullName.toLowerCase().includes(wanted)
  const seen = new Set<string>()
  const below = (group: string, depth: number): Line[] => {
    const branch = branches.get(group)
    const lines = (branch?.entries ?? []).flatMap((entry): Line[] => {
      if (entry.type === 'scope') {
        if (seen.has(entry.id) || !fits(entry)) return []
        seen.add(entry.id)
        return [{ kind: 'scope', scope: entry, depth }]
      }
      const own = open.has(entry.id) ? below(entry.id, depth + 1) : []
      return wanted !== '' && own.length === 0 && !fits(entry) ? [] : [{ kind: 'group', group: entry, depth }, ...own]
    })
    const isOver = branch?.isDone && (branch.entries.length > 0 || group === ROOT)
    return isOver ? lines : [...lines, { kind: 'state', key: `state ${group}`, branch, depth }]
  }
  return below(ROOT, 0)
}

interface ScopeTreeProps {
  readonly choice: Choice
  /** Called if several names are pasted at once: another tab handles them. */
  readonly onPaste: (text: string) => void
}

export function ScopeTree({ choice, onPaste }: ScopeTreeProps) {
  const { source, connectionId } = choice
  const tree = useRemoteTree(source.plugin, connectionId)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words)
  const lines = useMemo(() => linesOf(tree.branches, open, wanted), [tree.branches, open, wanted])
  const shown = lines.flatMap((line) => (line.kind === 'scope' ? line.scope : []))
  const free = shown.filter(({ id }) => !choice.isFixed(id))
  const isAll = free.length > 0 && free.every(({ id }) => choice.isChosen(id))
  const what = source.scope.title.toLowerCase()

  function toggle(group: string) {
    const next = new Set(open)
    if (!next.delete(group)) {
      next.add(group)
      void tree.read(group).catch(() => undefined)
    }
    setOpen(next)
  }
  async function chooseGroup(group: string) {
    if (!open.has(group)) toggle(group)
    try {
      const all = (await tree.read(group)).filter(({ type }) => type === 'scope')
      const free = all.filter(({ id }) => !choice.isFixed(id))
      if (free.every(({ id }) => choice.isChosen(id))) choice.remove(free.map(({ id }) => id))
      else choice.add(all)
    } catch (error) {
      notifications.show({ color: 'red', title: 'Not all could be chosen', message: (error as Error).message })
    }
  }
  function paste(event: ClipboardEvent) {
    const text = event.clipboardData.getData('text')
    if (!/[\n,;\t]/.test(text.trim())) return
    event.preventDefault()
    onPaste(text)
  }

  return (
    <>
      <div className="row" style={{ alignItems: 'center', marginBottom: 8 }}>
        <TextInput
          style={{ flex: 1 }}
          aria-label={`Find a ${what}`}
          placeholder={`Find a ${what}, or paste names`}
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
          onPaste={paste}
        />
        <Button
          variant="default"
          disabled={free.length === 0}
          onClick={() => (isAll ? choice.remove(free.map(({ id }) => id)) : choice.add(free))}
        >
          {isAll ? 'Choose none of these' : `Choose ${free.length === 0 ? 'all' : `all ${count(free.length)}`}`}
        </Button>
      </div>
      <VirtualList items={lines} keyOf={keyOf} label={`What ${source.title} offers`} rowHeight={36} height={HEIGHT}>
        {(line) =>
          line.kind === 'scope' ? (
            <ScopeLine scope={line.scope} choice={choice} depth={line.depth} />
          ) : line.kind === 'group' ? (
            <GroupLine
              group={line.group}
              depth={line.depth}
              isOpen={open.has(line.group.id)}
              branch={tree.branches.get(line.group.id)}
              choice={choice}
              onToggle={() => toggle(line.group.id)}
              onAll={() => void chooseGroup(line.group.id)}
            />
          ) : (
            <StateLine
              branch={line.branch}
              depth={line.depth}
              onAgain={() => void tree.read(line.key.slice('state '.length)).catch(() => undefined)}
            />
          )
        }
      </VirtualList>
      {lines.length === 0 && (
        <p className="quiet" style={{ padding: '12px 0' }}>
          {wanted
            ? `Nothing that is open here is called “${wanted}”.`
            : `${source.title} shows nothing to this connection: check what its token may see.`}
        </p>
      )}
      {source.scope.hasSearch && wanted.trim().length > 1 && <Elsewhere words={wanted.trim()} choice={choice} />}
    </>
  )
}

interface GroupLineProps {
  readonly group: RemoteScope
  readonly depth: number
  readonly isOpen: boolean
  readonly branch: Branch | undefined
  readonly choice: Choice
  onToggle(): void
  onAll(): void
}

function GroupLine({ group, depth, isOpen, branch, choice, onToggle, onAll }: GroupLineProps) {
  const scopes = branch?.entries.filter(({ type }) => type === 'scope') ?? []
  const free = scopes.filter(({ id }) => !choice.isFixed(id))
  const chosen = free.filter(({ id }) => choice.isChosen(id)).length
  const isAll = branch?.isDone === true && free.length > 0 && chosen === free.length
  return (
    <div className="line" style={{ paddingLeft: 4 + depth * 20 }}>
      <button type="button" className="opener cut" aria-expanded={isOpen} onClick={onToggle} title={group.fullName}>
        <span aria-hidden className="turn" data-open={isOpen} /> {group.name}
      </button>
      <span className="small faint number" style={{ whiteSpace: 'nowrap' }}>
        {chosen > 0 && `${count(chosen)} of `}
        {branch && `${count(branch.entries.length)}${branch.isDone ? '' : ' so far'}`}
      </span>
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={onAll}
        aria-label={`Choose ${isAll ? 'none' : 'all'} of ${group.fullName}`}
      >
        {isAll ? 'None' : 'All'}
      </Button>
    </div>
  )
}

interface StateLineProps {
  readonly branch: Branch | undefined
  readonly depth: number
  onAgain(): void
}

function StateLine({ branch, depth, onAgain }: StateLineProps) {
  const style = { paddingLeft: 8 + depth * 20 }
  if (branch?.failure)
    return (
      <div className="line bad" role="alert" style={style}>
        <span className="cut" title={branch.failure}>
          {branch.failure}
        </span>
        <Button variant="subtle" size="compact-sm" onClick={onAgain}>
          Try again
        </Button>
      </div>
    )
  return (
    <div className="line faint" style={style}>
      {branch?.isDone ? 'Nothing is in it.' : 'Reading…'}
    </div>
  )
}

const FOUND = 100

/** Uses the source's own search, which also finds scopes in groups that nobody has opened. */
function Elsewhere({ words, choice }: { readonly words: string; readonly choice: Choice }) {
  const { source, connectionId } = choice
  const search = useMutation({
    mutationFn: (asked: string) =>
      ask('GET /plugins/{plugin}/connections/{connectionId}/search-remote-scopes', {
        path: { plugin: source.plugin, connectionId },
        query: { search: asked, pageSize: FOUND },
      }),
  })
  const isOf = search.variables === words
  const found = isOf ? (search.data?.children ?? []) : []
  return (
    <div style={{ marginTop: 8 }}>
      {isOf && search.error && (
        <p className="bad" role="alert">
          {search.error.message}
        </p>
      )}
      {isOf && search.data ? (
        <>
          <p className="small quiet" style={{ marginBottom: 4 }}>
            {found.length === 0
              ? `${source.title} finds nothing by this name.`
              : `${source.title} finds ${counted(search.data.count ?? found.length, source.scope.title.toLowerCase())}${(search.data.count ?? 0) > found.length ? `, the first ${found.length} here` : ''}:`}
          </p>
          {found.length > 0 && (
            <VirtualList items={found} keyOf={({ id }) => id} label="Found" rowHeight={36} height={220}>
              {(scope) => <ScopeLine scope={scope} choice={choice} depth={0} />}
            </VirtualList>
          )}
        </>
      ) : (
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ marginLeft: -8 }}
          loading={search.isPending}
          onClick={() => search.mutate(words)}
        >
          Search all of {source.title} for “{words}”
        </Button>
      )}
    </div>
  )
}
