/** The made-up vendor's data, and how it changes. Times are whole seconds, as with most vendors. */
import fc from 'fast-check'
import { pick, type VendorChange } from '../support/vendor-under-test.ts'

export interface Item {
  readonly id: number
  title: string
  kind: number
  state: string
  points: number
  reporter: number
  assignee: number | null
  labels: string[]
  readonly boards: Set<number>
  readonly createdAt: number
  updatedAt: number
  readonly comments: Comment[]
}
export interface Comment {
  readonly id: number
  readonly author: number
  body: string
  readonly createdAt: number
}
export interface Run {
  readonly id: number
  readonly board: number
  readonly sha: string
  status: string
  readonly startedAt: number
  finishedAt: number | null
}

export const BOARDS = [1, 2, 3, 4]
const LABELS = ['hot', 'red', 'late', 'odd', 'new']
const SHAS = ['a1', 'b2', 'c3', 'd4', 'e5']
const ENDS = ['success', 'failed']
const DAY = 24 * 3_600_000
/** The ages of the first records in days, on both sides of the start date. */
const AGES = [40, 20, 10, 2, 1, 0]
export const startDate = (now: number) => new Date(now - 5 * DAY)

export class World {
  readonly people = new Map<number, string>()
  readonly kinds = new Map<number, string>()
  readonly items: Item[] = []
  readonly builds: Run[] = []
  readonly deploys: Run[] = []
  #lastId = 100
  #age = 0
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
    for (const [index, name] of ['Ann', 'Bob', 'Cid', 'Dee'].entries()) this.people.set(index + 1, name)
    for (const [index, name] of ['task', 'fire'].entries()) this.kinds.set(index + 1, name)
    for (const [number, age] of AGES.entries()) {
      this.#age = age * DAY
      const item = this.#item(BOARDS[number % 3] as number, number, 1 << (number % 5), number)
      if (number % 2) item.boards.add(BOARDS[(number + 1) % 3] as number)
      if (number < 3) this.#comment(item, number)
    }
    for (const [number, age] of AGES.slice(1).entries()) {
      this.#age = age * DAY
      this.builds.unshift(this.#run(BOARDS[number % 2] as number, number, number % 2 ? 'running' : 'success'))
      this.deploys.push(this.#run(BOARDS[number % 2] as number, number, number % 2 ? 'success' : 'running'))
    }
    this.#age = 0
  }

  #time = () => Math.floor((this.#now() - this.#age) / 1000) * 1000
  #person = (number: number) => (number % this.people.size) + 1
  #kind = (number: number) => [...this.kinds.keys()][number % this.kinds.size] ?? 0
  #labels = (mask: number) => LABELS.filter((_, index) => mask & (1 << index))

  #item(board: number, kind: number, labels: number, person: number): Item {
    const time = this.#time()
    const item: Item = {
      id: ++this.#lastId,
      title: `Item ${this.#lastId}`,
      kind: this.#kind(kind),
      state: 'open',
      points: kind,
      reporter: this.#person(person),
      assignee: null,
      labels: this.#labels(labels),
      boards: new Set([board]),
      createdAt: time,
      updatedAt: time,
      comments: [],
    }
    this.items.push(item)
    return item
  }

  #comment(item: Item, person: number): void {
    const id = ++this.#lastId
    item.comments.push({ id, author: this.#person(person), body: `Comment ${id}`, createdAt: this.#time() })
    item.updatedAt = this.#time()
  }

  #run(board: number, sha: number, status: string): Run {
    const startedAt = this.#time()
    const finishedAt = status === 'running' ? null : startedAt
    return { id: ++this.#lastId, board, sha: SHAS[sha % SHAS.length] as string, status, startedAt, finishedAt }
  }

  #touch(number: number, change: (item: Item) => void): void {
    const item = pick(this.items, number)
    if (!item) return
    change(item)
    item.updatedAt = this.#time()
  }

  #finish(runs: readonly Run[], number: number, end: number): void {
    const run = pick(
      runs.filter(({ status }) => status === 'running'),
      number,
    )
    if (run) Object.assign(run, { status: ENDS[end], finishedAt: this.#time() })
  }

  readonly changes: Record<ChangeName, (...numbers: number[]) => void> = {
    'create item': (board, kind, labels, person) => void this.#item(BOARDS[board] as number, kind, labels, person),
    'edit item': (number, points) =>
      this.#touch(number, (item) => {
        item.title += '!'
        item.points = points
        item.state = points % 2 ? 'closed' : 'open'
      }),
    'relabel item': (number, labels) =>
      this.#touch(number, (item) => {
        item.labels = this.#labels(labels)
      }),
    'assign item': (number, person) =>
      this.#touch(number, (item) => {
        item.assignee = person === 0 ? null : this.#person(person)
      }),
    'change kind of item': (number, kind) =>
      this.#touch(number, (item) => {
        item.kind = this.#kind(kind)
      }),
    'show item': (number, board) => this.#touch(number, ({ boards }) => boards.add(BOARDS[board] as number)),
    'hide item': (number, board) => void pick(this.items, number)?.boards.delete(BOARDS[board] as number),
    'remove item': (number) => remove(this.items, number),
    'write comment': (number, person) => this.#touch(number, (item) => this.#comment(item, person)),
    'edit comment': (number, comment) =>
      this.#touch(number, ({ comments }) => {
        const found = pick(comments, comment)
        if (found) found.body += '!'
      }),
    'remove comment': (number, comment) => this.#touch(number, ({ comments }) => remove(comments, comment)),
    'start build': (board, sha) => void this.builds.unshift(this.#run(BOARDS[board] as number, sha, 'running')),
    'finish build': (number, end) => this.#finish(this.builds, number, end),
    'drop running build': (number) => removeRunning(this.builds, number),
    'remove build': (number) => remove(this.builds, number),
    'start deploy': (board) => void this.deploys.push(this.#run(BOARDS[board] as number, 0, 'running')),
    'finish deploy': (number, end) => this.#finish(this.deploys, number, end),
    'drop running deploy': (number) => removeRunning(this.deploys, number),
    'remove deploy': (number) => remove(this.deploys, number),
    'add kind': () => void this.kinds.set(++this.#lastId, `kind ${this.#lastId}`),
    'rename kind': (number) => {
      const id = this.#kind(number)
      if (this.kinds.has(id)) this.kinds.set(id, this.kinds.get(id) === 'fire' ? 'task' : 'fire')
    },
    'remove kind': (number) => void this.kinds.delete(this.#kind(number)),
    'rename person': (number) => {
      const id = this.#person(number)
      this.people.set(id, `${this.people.get(id)}a`)
    },
  }
}

const remove = (things: unknown[], number: number): void => {
  if (things.length > 0) things.splice(number % things.length, 1)
}
const removeRunning = (runs: Run[], number: number): void => {
  const run = pick(
    runs.filter(({ status }) => status === 'running'),
    number,
  )
  if (run) runs.splice(runs.indexOf(run), 1)
}

const board = fc.nat(BOARDS.length - 1)
const any = fc.nat(9)
const labels = fc.nat(31)
const end = fc.nat(1)
type ChangeName = keyof typeof CHANGES

export const CHANGES = {
  'create item': { arguments: [board, any, labels, any] },
  'edit item': { arguments: [any, any] },
  'relabel item': { arguments: [any, labels] },
  'assign item': { arguments: [any, any] },
  'change kind of item': { arguments: [any, any] },
  'show item': { arguments: [any, board] },
  'hide item': { arguments: [any, board] },
  'remove item': { arguments: [any] },
  'write comment': { arguments: [any, any] },
  'edit comment': { arguments: [any, any] },
  'remove comment': { arguments: [any, any] },
  'start build': { arguments: [board, any] },
  'finish build': { arguments: [any, end] },
  // The build is requested again because it was not finished. The answer is then 404.
  'drop running build': { arguments: [any] },
  'remove build': { arguments: [any], leavesNoTrace: true },
  'start deploy': { arguments: [board] },
  'finish deploy': { arguments: [any, end] },
  'drop running deploy': { arguments: [any] },
  'remove deploy': { arguments: [any], leavesNoTrace: true },
  'add kind': { arguments: [] },
  'rename kind': { arguments: [any] },
  'remove kind': { arguments: [any] },
  // Records that name a person do not change when the person is renamed.
  'rename person': { arguments: [any], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>
