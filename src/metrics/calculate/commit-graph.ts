/** Loads the commits of some repositories as a graph of numbers, and finds the commits between two of them. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Sql } from './calculation.ts'
import { ShaIndex } from './sha-index.ts'

export interface CommitGraph {
  readonly shas: ShaIndex
  /** Tells whether the repositories hold the commit. Others are known only because a deployment or a child names them. */
  has(sha: string): boolean
  /** Returns the commits that `to` can reach and `from` cannot, depth first with parents in order of their shas. An unknown commit reaches none. */
  range(from: string, to: string): Int32Array
}

/** Rows fetched at a time. */
const FETCH = 10_000
const NO_PARENT = -1
const NOTHING = new Int32Array()

export async function loadCommitGraph({ kysely }: Database, repos: Sql): Promise<CommitGraph> {
  const shas = new ShaIndex()
  let edges = new Int32Array(1 << 16)
  let count = 0
  const query = kysely
    .selectFrom(
      sql<{ sha: string; parent: string | null }>`(
        select r.commit_sha as sha, p.parent_commit_sha as parent
        from repo_commits r left join commit_parents p on p.commit_sha = r.commit_sha
        where r.repo_id in (${repos}))`.as('edge'),
    )
    .select(['sha', 'parent'])
  for await (const { sha, parent } of query.stream(FETCH)) {
    const child = shas.add(sha)
    if (child < 0) continue
    if (count + 2 > edges.length) edges = grown(edges)
    edges[count++] = child
    edges[count++] = parent ? shas.add(parent) : NO_PARENT
  }
  return graphOf(shas, edges.subarray(0, count))
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}

const REACHED_BY_NEW = 1
const REACHED_BY_OLD = 2
const REACHED = REACHED_BY_NEW | REACHED_BY_OLD
const DONE = 4
const VISITED = 8

/** `edges` holds child and parent in turn. Every commit that is held is a child in it, with `NO_PARENT` if it has no parents. */
export function graphOf(shas: ShaIndex, edges: Int32Array): CommitGraph {
  const size = shas.size
  const held = new Uint8Array(size)
  for (let at = 0; at < edges.length; at += 2) held[edges[at] as number] = 1
  const { starts, parents } = parentLists(shas, edges)
  const ranks = topologicalRanks(size, starts, parents)
  const marks = new Uint8Array(size)
  const touched: number[] = []

  /** Marks all that the range needs, from children to parents, until every commit in the queue is known to be reachable from the old commit. */
  function mark(from: number, to: number): void {
    const queue = new RankQueue(ranks)
    let open = 0
    const reach = (commit: number, flag: number) => {
      const before = marks[commit] as number
      if ((before & flag) === flag) return
      if (before === 0) touched.push(commit)
      const isQueued = before !== 0 && (before & DONE) === 0
      const after = (before | flag) & ~DONE
      marks[commit] = after
      if (!isQueued) queue.push(commit)
      if (isQueued && (before & REACHED) === REACHED_BY_NEW) open--
      if ((after & REACHED) === REACHED_BY_NEW) open++
    }
    reach(from, REACHED_BY_OLD)
    reach(to, REACHED_BY_NEW)
    while (open > 0) {
      const commit = queue.pop()
      const flags = (marks[commit] as number) & REACHED
      if (flags === REACHED_BY_NEW) open--
      marks[commit] = flags | DONE
      for (let at = starts[commit] as number; at < (starts[commit + 1] as number); at++) {
        if (flags & REACHED_BY_NEW) reach(parents[at] as number, REACHED_BY_NEW)
        if (flags & REACHED_BY_OLD) reach(parents[at] as number, REACHED_BY_OLD)
      }
    }
  }

  function walk(to: number): Int32Array {
    const stack = [to]
    const visited: number[] = []
    while (stack.length > 0) {
      const commit = stack.pop() as number
      const flags = marks[commit] as number
      if (flags & (REACHED_BY_OLD | VISITED)) continue
      if (flags === 0) touched.push(commit)
      marks[commit] = flags | VISITED
      visited.push(commit)
      for (let at = (starts[commit + 1] as number) - 1; at >= (starts[commit] as number); at--) {
        stack.push(parents[at] as number)
      }
    }
    return Int32Array.from(visited)
  }

  return {
    shas,
    has: (sha) => held[shas.find(sha)] === 1,
    range(from, to) {
      const newest = shas.find(to)
      const oldest = shas.find(from)
      if (newest < 0) return NOTHING
      if (oldest >= 0) mark(oldest, newest)
      const commits = walk(newest)
      for (const commit of touched) marks[commit] = 0
      touched.length = 0
      return commits
    },
  }
}

/** Parents of commit n: `parents` from `starts[n]` to `starts[n + 1]`, in order of sha, each once. */
function parentLists(shas: ShaIndex, edges: Int32Array): { starts: Int32Array; parents: Int32Array } {
  const size = shas.size
  const starts = new Int32Array(size + 1)
  for (let at = 0; at < edges.length; at += 2) if (edges[at + 1] !== NO_PARENT) starts[(edges[at] as number) + 1]!++
  for (let commit = 0; commit < size; commit++) starts[commit + 1]! += starts[commit] as number
  const parents = new Int32Array(starts[size] as number)
  const ends = starts.slice(0, size)
  for (let at = 0; at < edges.length; at += 2) {
    if (edges[at + 1] !== NO_PARENT) parents[ends[edges[at] as number]!++] = edges[at + 1] as number
  }
  // A commit that is in two repositories comes with its parents twice.
  let kept = 0
  for (let commit = 0, start = 0; commit < size; commit++) {
    const end = starts[commit + 1] as number
    const own = parents.subarray(start, end)
    if (own.length > 1) own.sort((one, other) => shas.compare(one, other))
    const first = kept
    starts[commit] = first
    for (const parent of own) if (kept === first || parent !== parents[kept - 1]) parents[kept++] = parent
    start = end
  }
  starts[size] = kept
  return { starts, parents: parents.subarray(0, kept) }
}

/** Gives each commit a number that is larger than those of its parents. Cycles, which git cannot create, come last. */
function topologicalRanks(size: number, starts: Int32Array, parents: Int32Array): Int32Array {
  const children = new Int32Array(size)
  for (const parent of parents) children[parent]!++
  const ready = new Int32Array(size)
  let end = 0
  for (let commit = 0; commit < size; commit++) if (children[commit] === 0) ready[end++] = commit
  const ranks = new Int32Array(size)
  let rank = size
  for (let next = 0; next < end; next++) {
    const commit = ready[next] as number
    ranks[commit] = rank--
    for (let at = starts[commit] as number; at < (starts[commit + 1] as number); at++) {
      const parent = parents[at] as number
      if (--children[parent]! === 0) ready[end++] = parent
    }
  }
  return ranks
}

/** The commit of the largest rank comes out first. */
class RankQueue {
  readonly #ranks: Int32Array
  readonly #heap: number[] = []
  constructor(ranks: Int32Array) {
    this.#ranks = ranks
  }

  push(commit: number): void {
    const heap = this.#heap
    let at = heap.push(commit) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (this.#rankAt(above) >= this.#rankAt(at)) return
      this.#swap(at, above)
      at = above
    }
  }

  pop(): number {
    const heap = this.#heap
    const top = heap[0] as number
    const last = heap.pop() as number
    if (heap.length === 0) return top
    heap[0] = last
    for (let at = 0; ; ) {
      let below = at * 2 + 1
      if (below >= heap.length) return top
      if (below + 1 < heap.length && this.#rankAt(below + 1) > this.#rankAt(below)) below++
      if (this.#rankAt(at) >= this.#rankAt(below)) return top
      this.#swap(at, below)
      at = below
    }
  }

  #rankAt(at: number): number {
    return this.#ranks[this.#heap[at] as number] as number
  }

  #swap(one: number, other: number): void {
    const kept = this.#heap[one] as number
    this.#heap[one] = this.#heap[other] as number
    this.#heap[other] = kept
  }
}
