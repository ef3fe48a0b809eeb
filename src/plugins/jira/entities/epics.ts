import { cursor } from '../../../plugin-kit/index.ts'
import { issues } from '../issue.ts'
import { entity, onBoard, startAt } from '../kit.ts'
import { extractIssue } from './issues.ts'

const byToken = cursor({
  param: 'nextPageToken',
  next: (body) => body.nextPageToken,
  size: 100,
  sizeParam: 'maxResults',
})

/** Epics of the board's issues, even if the board does not show the epics themselves. All are read every time, as there are few of them. */
export default entity(issues, {
  label: 'Epics',
  domainTypes: ['TICKET', 'CROSS'],
  raw: 'jira_api_epics',
  collect: {
    forEach: {
      table: issues,
      ...onBoard,
      only: ({ epic_key }) => epic_key !== '',
      input: ({ epic_key }) => ({ epic_key }),
      // Older servers refuse the whole request if one epic is deleted.
      atOnce: ({ isCloud, majorVersion }) => (isCloud || majorVersion > 8 ? 100 : 1),
    },
    request: ({ inputs, server }) => ({
      path: server.isCloud ? 'api/3/search/jql' : 'api/2/search',
      query: {
        jql: `issue in (${inputs.map(({ epic_key }) => epic_key).join()}) ORDER BY created ASC`,
        fields: '*all',
        expand: 'changelog',
      },
    }),
    paging: ({ isCloud }) => (isCloud ? byToken : startAt(100)),
    records: (body) => body.issues,
    emptyOn: [400],
  },
  extract: extractIssue,
})
