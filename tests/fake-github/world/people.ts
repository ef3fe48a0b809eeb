import { dice } from './dice.ts'
import { globalId } from './ids.ts'
import type { Organisation, User } from './records.ts'
import type { WorldSettings } from './settings.ts'

export interface People {
  readonly users: readonly User[]
  readonly organisations: readonly Organisation[]
  /** Logins of people, without bots. */
  readonly logins: readonly string[]
  readonly bots: readonly string[]
  find(login: string): User | undefined
  organisation(login: string): Organisation | undefined
}

/** REST shows some records of deleted accounts as written by this account. GraphQL shows null. */
export const GHOST: User = {
  id: 10137,
  nodeId: globalId('U', '10137'),
  login: 'ghost',
  type: 'User',
  name: 'Deleted user',
  email: null,
  company: null,
  organisations: [],
  createdAt: '2008-05-13T06:14:25Z',
}

export function generatePeople(settings: WorldSettings): People {
  const luck = dice(settings.seed)
  const organisations = settings.organisations.map((login, ordinal): Organisation => {
    const id = 500 + ordinal
    return {
      id,
      nodeId: globalId('O', String(id)),
      login,
      description: `What ${login} builds`,
      createdAt: settings.from,
    }
  })
  const humans = Array.from({ length: settings.users }, (_, ordinal): User => {
    const number = ordinal + 1
    const id = 1000 + number
    return {
      id,
      nodeId: globalId('U', String(id)),
      login: `user-${number}`,
      type: 'User',
      name: number % 9 === 0 ? null : `Ünal Developer ${number}`,
      email: number % 4 === 0 ? null : `user-${number}@example.com`,
      company: number % 5 === 0 ? '@acme' : null,
      organisations: luck.some('organisations', settings.organisations, number % 3, number),
      createdAt: settings.from,
      ...settings.people[ordinal],
    }
  })
  const robots = ['dependabot[bot]', 'renovate[bot]'].map((login, ordinal): User => {
    const id = 900 + ordinal
    return { ...GHOST, id, nodeId: globalId('BOT', String(id)), login, type: 'Bot', name: null }
  })
  const users = [...humans, ...robots]
  const byLogin = new Map([...users, GHOST].map((user) => [user.login.toLowerCase(), user]))
  return {
    users,
    organisations,
    logins: humans.map((user) => user.login),
    bots: robots.map((user) => user.login),
    find: (login) => byLogin.get(login.toLowerCase()),
    organisation: (login) => organisations.find((each) => each.login.toLowerCase() === login.toLowerCase()),
  }
}
