import { bigint, indexed, key, string, timestamp, zeroTime } from '../../../database/table.ts'
import { entity, inRepo, LONG_LIST, peopleIn, REST_PAGE, repoAccounts, table, withoutGhosts } from '../kit.ts'

export const events = table('issue_events', 'GithubIssueEvent', {
  github_id: key(bigint('id')),
  issue_id: indexed(bigint('issue.id')),
  type: string('event'),
  author_username: string('actor.login'),
  github_created_at: indexed(zeroTime(timestamp('created_at'))),
})

export default entity(events, {
  label: 'Events',
  domainTypes: ['TICKET'],
  raw: 'github_api_events',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'issues/events') }),
    paging: REST_PAGE,
    incremental: { newestFirstBy: 'created_at' },
    longList: LONG_LIST,
    emptyOn: [410],
    canBeSwitchedOff: true,
    endsOn: [422], // GitHub lists only a few hundred pages
  },
  extract: {
    writes: [repoAccounts],
    rows(given, context) {
      const event = withoutGhosts(given, 'actor')
      return [context.read(events, event), ...peopleIn([event.actor], context)]
    },
  },
})
