/** The data of a fake Linear workspace, its possible changes, and the events that it sends about issues. */

export interface FakeUser {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly email: string
  readonly avatarUrl: string | null
  active: boolean
}
export interface FakeState {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly color: string
  readonly position: number
}
export interface FakeCycle {
  readonly id: string
  readonly number: number
  readonly name: string | null
  readonly startsAt: string
  readonly endsAt: string
  completedAt: string | null
}
export interface FakeLabel {
  readonly id: string
  readonly name: string
}
export interface FakeComment {
  readonly id: string
  body: string
  readonly createdAt: string
  updatedAt: string
  readonly user: FakeUser | null
}
export interface FakeEntry {
  readonly id: string
  readonly createdAt: string
  readonly actor: FakeUser | null
  readonly fromState: FakeState | null
  readonly toState: FakeState | null
}
export interface FakeIssue {
  readonly id: string
  readonly team: FakeTeam
  readonly identifier: string
  readonly number: number
  title: string
  description: string | null
  readonly url: string
  readonly priority: number
  readonly estimate: number | null
  readonly dueDate: string | null
  trashed: boolean
  readonly createdAt: string
  updatedAt: string
  startedAt: string | null
  completedAt: string | null
  canceledAt: string | null
  state: FakeState
  assignee: FakeUser | null
  readonly creator: FakeUser | null
  cycle: FakeCycle | null
  parent: FakeIssue | null
  labels: readonly FakeLabel[]
  relations: readonly { readonly id: string; readonly type: string; readonly relatedIssue: FakeIssue }[]
  readonly comments: FakeComment[]
  readonly history: FakeEntry[]
}
export interface FakeTeam {
  readonly id: string
  name: string
  readonly key: string
  readonly description: string | null
  readonly states: readonly FakeState[]
  readonly cycles: FakeCycle[]
  readonly issues: FakeIssue[]
}

const TYPES = ['backlog', 'started', 'completed', 'canceled'] as const
const NAMES = ['Backlog', 'In Progress', 'Done', 'Canceled']
const HOUR = 3_600_000

export function createWorld() {
  let last = 0
  const nextId = (kind: string) => `${kind}-${++last}`
  const world = {
    /** The server's clock, which dates changes. */
    now: () => new Date(),
    users: ['Ada', 'Bo', 'Cleo'].map(
      (name, index): FakeUser => ({
        id: `user-${index}`,
        name,
        displayName: name.toLowerCase(),
        email: `${name.toLowerCase()}@acme.example`,
        avatarUrl: null,
        active: true,
      }),
    ),
    labels: ['Bug', 'Incident', 'Feature', 'Interface'].map(
      (name, index): FakeLabel => ({ id: `label-${index}`, name }),
    ),
    teams: [] as FakeTeam[],
    /** The messages that it has sent about changes of issues. */
    events: [] as { readonly event: string; readonly payload: Record<string, unknown> }[],
  }
  const time = () => world.now().toISOString()
  const userAt = (number: number) => world.users[number % world.users.length] as FakeUser
  const issues = () => world.teams.flatMap((team) => team.issues)
  const idOf = (thing: { readonly id: string } | null) => thing?.id ?? null

  function tell(action: 'create' | 'update' | 'remove', issue: FakeIssue) {
    const {
      team,
      state,
      assignee,
      creator,
      cycle,
      parent,
      labels,
      relations: _,
      comments: __,
      history: ___,
      ...data
    } = issue
    world.events.push({
      event: `Issue ${action}`,
      payload: {
        action,
        type: 'Issue',
        createdAt: time(),
        webhookTimestamp: world.now().getTime(),
        data: {
          ...data,
          teamId: team.id,
          team: { id: team.id, key: team.key, name: team.name },
          stateId: state.id,
          state,
          assigneeId: idOf(assignee),
          creatorId: idOf(creator),
          cycleId: idOf(cycle),
          parentId: idOf(parent),
          labelIds: labels.map(({ id }) => id),
          labels,
        },
      },
    })
  }
  function change(issue: FakeIssue | undefined, values: Partial<FakeIssue>, action: 'update' | 'remove' = 'update') {
    if (!issue) return
    Object.assign(issue, values, { updatedAt: time() })
    tell(action, issue)
  }

  return Object.assign(world, {
    issues,
    addTeam(id: string, name: string, key: string): FakeTeam {
      const states = TYPES.map((type, position) => ({
        id: `${id}-${type}`,
        name: NAMES[position] as string,
        type,
        color: '#ffffff',
        position,
      }))
      const team: FakeTeam = { id, name, key, description: `${name} team`, states, cycles: [], issues: [] }
      world.teams.push(team)
      return team
    },
    addCycle(team: FakeTeam): FakeCycle {
      const number = team.cycles.length + 1
      const cycle = {
        id: nextId('cycle'),
        number,
        name: number % 2 === 0 ? `Sprint ${number}` : null,
        startsAt: new Date(world.now().getTime() - HOUR).toISOString(),
        endsAt: new Date(world.now().getTime() + 100 * HOUR).toISOString(),
        completedAt: null,
      }
      team.cycles.push(cycle)
      return cycle
    },
    endCycle(cycle: FakeCycle | undefined) {
      if (cycle) cycle.completedAt = time()
    },
    open(team: FakeTeam, { user = 0, labels = [] as number[], title = 'Make it so' } = {}): FakeIssue {
      const number = team.issues.length + 1
      const at = time()
      const issue: FakeIssue = {
        id: nextId('issue'),
        team,
        identifier: `${team.key}-${number}`,
        number,
        title,
        description: null,
        url: `https://linear.app/acme/issue/${team.key}-${number}`,
        priority: number % 5,
        estimate: number % 3 === 0 ? null : number % 3,
        dueDate: null,
        trashed: false,
        createdAt: at,
        updatedAt: at,
        startedAt: null,
        completedAt: null,
        canceledAt: null,
        state: team.states[0] as FakeState,
        assignee: null,
        creator: userAt(user),
        cycle: null,
        parent: null,
        labels: labels.flatMap((each) => world.labels[each % world.labels.length] ?? []),
        relations: [],
        comments: [],
        history: [],
      }
      team.issues.push(issue)
      tell('create', issue)
      return issue
    },
    move(issue: FakeIssue | undefined, to: number, user = 0) {
      if (!issue) return
      const toState = issue.team.states[to % issue.team.states.length] as FakeState
      const at = time()
      issue.history.unshift({
        id: nextId('entry'),
        createdAt: at,
        actor: userAt(user),
        fromState: issue.state,
        toState,
      })
      change(issue, {
        state: toState,
        startedAt: toState.type === 'started' ? at : issue.startedAt,
        completedAt: toState.type === 'completed' ? at : null,
        canceledAt: toState.type === 'canceled' ? at : null,
      })
    },
    edit(issue: FakeIssue | undefined, title: string) {
      issue?.history.unshift({ id: nextId('entry'), createdAt: time(), actor: null, fromState: null, toState: null })
      change(issue, { title })
    },
    assign: (issue: FakeIssue | undefined, user: number) =>
      change(issue, { assignee: user === 0 ? null : userAt(user) }),
    label: (issue: FakeIssue | undefined, labels: readonly number[]) =>
      change(issue, { labels: labels.flatMap((each) => world.labels[each % world.labels.length] ?? []) }),
    plan: (issue: FakeIssue | undefined, cycle: FakeCycle | undefined) => change(issue, { cycle: cycle ?? null }),
    relate(issue: FakeIssue | undefined, relatedIssue: FakeIssue | undefined) {
      if (!issue || !relatedIssue || issue === relatedIssue) return
      change(issue, { relations: [{ id: nextId('relation'), type: 'blocks', relatedIssue }], parent: relatedIssue })
    },
    comment(issue: FakeIssue | undefined, user: number) {
      const at = time()
      issue?.comments.unshift({ id: nextId('comment'), body: 'Seen', createdAt: at, updatedAt: at, user: userAt(user) })
      change(issue, {})
    },
    editComment(issue: FakeIssue | undefined, body: string) {
      const comment = issue?.comments[0]
      if (!comment) return
      Object.assign(comment, { body, updatedAt: time() })
      change(issue, {})
    },
    trash: (issue: FakeIssue | undefined) => change(issue, { trashed: true }, 'remove'),
    restore: (issue: FakeIssue | undefined) => change(issue, { trashed: false }),
  })
}
export type World = ReturnType<typeof createWorld>
