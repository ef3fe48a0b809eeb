import { cqProjects } from '../../../domain/quality.ts'
import { entity, projects, shortKey } from '../kit.ts'

export default entity(projects, {
  label: 'Projects',
  domainTypes: ['CODEQUALITY'],
  convert: {
    to: [cqProjects],
    rows: (project, { idOf }) => [
      cqProjects.row({
        id: idOf(projects, shortKey(project.project_key)),
        name: project.name,
        qualifier: project.qualifier,
        visibility: project.visibility,
        last_analysis_date: project.last_analysis_date,
        commit_sha: project.revision,
      }),
    ],
  },
})
