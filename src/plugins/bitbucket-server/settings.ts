import { type Fields, historyFields, inPanel, patternField } from '../../plugin-kit/index.ts'

export const ENDPOINT_HELP = 'Where people open Bitbucket in a browser, for example https://bitbucket.example.com/.'

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', help: ENDPOINT_HELP },
  username: {
    kind: 'string',
    label: 'User name',
    help: 'Leave empty for an HTTP access token of a project or repository.',
    isOptional: true,
  },
  password: {
    kind: 'secret',
    label: 'HTTP access token or password',
    help: 'Of this user; a token is better than a password. It needs the permission to read repositories.',
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

export const RIGHTS = [
  'HTTP access token with the permissions Project read and Repository read: of a person, together with the user name, or of a project or repository, without a user name.',
  'User name and password of an account that can read the repositories also work.',
  'The git history is cloned with the same token.',
]

const { refdiff } = historyFields('pull request')

export const scopeConfigFields: Fields = {
  ...inPanel('Code review', {
    prType: patternField('Pull request types', '', {
      help: 'Searched in titles. The type is what the pattern matches first.',
    }),
    prComponent: patternField('Pull request components', '', {
      help: 'Searched in descriptions. The component is what the pattern matches first.',
    }),
    prBodyClosePattern: patternField('Issues that a pull request closes', '', {
      help: 'Has no effect: Bitbucket Data Center has no issues of its own. DevLake stores it.',
      isOnRequest: true,
    }),
  }),
  ...(refdiff && { refdiff }),
}
