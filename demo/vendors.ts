/** Fakes of the tools that the organisation works with. They forget everything when they end. */
import { startReceiver } from '../tests/alerts/receiver.ts'
import type { FakeCircleci } from '../tests/fake-circleci/fake-circleci.ts'
import type { FakeGithub } from '../tests/fake-github/fake-github.ts'
import type { FakeJira } from '../tests/fake-jira/fake-jira.ts'
import { serveGit } from '../tests/gitextractor/support/server.ts'
import { startCircleci } from './circleci.ts'
import { makeRepository } from './git.ts'
import { startGithub } from './github.ts'
import type { ServiceStory } from './happenings.ts'
import { startJira } from './jira.ts'

export interface Vendors {
  readonly github: FakeGithub
  readonly jira: FakeJira
  readonly circleci: FakeCircleci
  /** Where the alerts of the demo go. */
  readonly chat: { readonly url: string }
  stop(): Promise<void>
}

/** `folder` is for the repositories of git; it must exist. */
export async function startVendors(stories: readonly ServiceStory[], folder: string): Promise<Vendors> {
  const [made, git, jira, circleci, chat] = await Promise.all([
    Promise.all(stories.map((story) => makeRepository(folder, story))),
    serveGit(folder),
    startJira(stories),
    startCircleci(stories),
    startReceiver(),
  ])
  const commits = new Map(made.flatMap((each) => [...each]))
  const github = await startGithub(stories, commits, (name) => `${git.url}/${name}`)
  return {
    github,
    jira,
    circleci,
    chat,
    async stop() {
      await Promise.all([github.stop(), jira.stop(), circleci.stop(), chat.stop()])
    },
  }
}
