import type { NameKinds, NameSample } from '../../plugin-kit/index.ts'
import { applicationRequest, applications } from './kit.ts'

const OF_APPLICATION = ['name', 'name'] as const

export const ruleNames: NameKinds = {
  applications: { title: 'applications', table: applications, column: 'name', scope: OF_APPLICATION },
  projects: { title: 'projects', table: applications, column: 'project', scope: OF_APPLICATION },
  clusters: { title: 'clusters', table: applications, column: 'dest_name', scope: OF_APPLICATION },
  namespaces: { title: 'namespaces', table: applications, column: 'dest_namespace', scope: OF_APPLICATION },
}

export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ name }) => applicationRequest(name),
    *names({ metadata, spec }) {
      const found = {
        applications: metadata?.name,
        projects: spec?.project,
        clusters: spec?.destination?.name,
        namespaces: spec?.destination?.namespace,
      }
      for (const [kind, name] of Object.entries(found)) if (name) yield { kind, name }
    },
  },
]
