import { cicdScopes } from '../../../domain/devops.ts'
import { entity, projects } from '../kit.ts'

export default entity(projects, {
  label: 'Projects',
  domainTypes: ['CICD'],
  raw: 'circleci_api_projects',
  off: ['collect', 'extract'],
  collect: { request: ({ scope }) => ({ path: `/v2/project/${scope.slug}` }), records: (project) => [project] },
  convert: {
    to: [cicdScopes],
    where: ({ slug }) => ({ slug }),
    rows: (project, { idOf }) => [
      cicdScopes.row({
        id: idOf(projects, project.slug),
        name: project.name,
        url: `https://app.circleci.com/pipelines/${project.slug}`,
      }),
    ],
  },
})
