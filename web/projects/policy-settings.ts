import type { Project } from '../api/description.ts'

type Settings = Readonly<Record<string, unknown>>

const metricOf = ({ metrics }: Project) => metrics.find(({ pluginName }) => pluginName === 'dora')

/** The settings chosen for the project; missing ones have their default. */
export function settingsOf(project: Project): Settings {
  const option = metricOf(project)?.pluginOption
  const policy = option && typeof option === 'object' && 'policy' in option ? option.policy : undefined
  return policy && typeof policy === 'object' ? (policy as Settings) : {}
}

/** The project's metrics with another policy, ready to be saved. */
export function metricsWith(project: Project, policy: Settings) {
  const own = metricOf(project)
  const option = { ...(own?.pluginOption as object), policy }
  const others = project.metrics.filter(({ pluginName }) => pluginName !== 'dora')
  return [...others, { pluginName: 'dora', enable: true, ...own, pluginOption: option }]
}
