import { cicdScopes } from '../../../domain/devops.ts'
import { applications, entity, pageOf } from '../kit.ts'
import { clusterOf } from '../rules.ts'

export default entity(applications, {
  label: 'Applications',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdScopes],
    where: ({ name }) => ({ name }),
    rows: (application, { idOf, connection }) => [
      cicdScopes.row({
        id: idOf(applications, application.name),
        name: application.name,
        description: `Project: ${application.project} | Namespace: ${application.namespace} | Destination: ${clusterOf(application)}/${application.dest_namespace}`,
        url: pageOf(connection.endpoint, application),
        created_date: application.created_date,
      }),
    ],
  },
})
