import { describe, expect, it } from 'vitest'
import { findPluginNames, pluginNames } from './plugin-names.ts'

const plugins = [
  {
    path: 'src/plugins/jira/plugin.ts',
    text: "export const jira = definePlugin({\n  name: 'jira',\n  title: 'Jira',\n})",
  },
  { path: 'src/plugins/github/graphql-plugin.ts', text: "  name: 'github_graphql',\n  title: 'GitHub',\n" },
  { path: 'src/plugins/webhook/plugin.ts', text: "  name: 'webhook',\n  title: 'Webhook',\n" },
]
const check = (path: string, text: string) => findPluginNames([...plugins, { path, text }])

describe('names of plugins', () => {
  it('are those that plugins declare', () => {
    expect([...pluginNames(plugins)]).toEqual(['jira', 'github_graphql', 'webhook'])
  })

  it.each([
    ['src/runner/pipelines.ts', "const OTHERS = ['org', 'jira']", 'jira'],
    ['src/api/server.ts', '\nif (name === "github_graphql") run()', 'github_graphql'],
    ['src/api/routes/issues.ts', 'api.get(`/plugins/jira/issues`)', 'jira'],
    ['src/api/access/route-law.ts', "all('POST /plugins/webhook/connections')", 'webhook'],
  ])('are refused in %s: %s', (path, text, name) => {
    expect(check(path, text)).toEqual([
      `${path}:${text.startsWith('\n') ? 2 : 1}: the plugin ${name} is named outside of src/plugins`,
    ])
  })

  it.each([
    ['src/plugins/jira/routes.ts', "const path = '/plugins/jira/x'"],
    ['src/runner/pipelines.test.ts', "const plugin = 'jira'"],
    ['src/runner/pipelines.ts', "  // 'jira' is one of them\n  /** Such as 'jira'. */\nimport x from '../jira.ts'"],
    ['src/metrics/findings/remedies.ts', "'Ask those who know jira, by GET /plugins/jira/x.'"],
    ['src/alerts/records.ts', "export const TARGETS = ['webhook', 'slack']"],
    ['src/dashboards/definitions/trackers.ts', "const PLUGIN = 'jira'"],
  ])('may stand in %s: %s', (path, text) => {
    expect(check(path, text)).toEqual([])
  })
})
