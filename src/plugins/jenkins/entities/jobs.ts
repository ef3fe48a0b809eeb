import { cicdScopes } from '../../../domain/devops.ts'
import { entity, jobs } from '../kit.ts'

export default entity(jobs, {
  label: 'Jobs',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdScopes],
    rows: (job, { idOf }) => [
      cicdScopes.row({
        id: idOf(jobs, job.full_name),
        name: job.full_name,
        description: job.description,
        url: job.url,
      }),
    ],
  },
})
