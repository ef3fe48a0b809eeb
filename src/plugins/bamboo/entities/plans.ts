import { cicdScopes } from '../../../domain/devops.ts'
import { browseUrl, entity, plans } from '../kit.ts'

export default entity(plans, {
  label: 'Plans',
  names: { convert: 'convertplans' },
  domainTypes: ['CICD'],
  convert: {
    to: [cicdScopes],
    rows: (plan, { idOf, connection }) => [
      cicdScopes.row({
        id: idOf(plans, plan.plan_key),
        name: plan.name,
        description: plan.description,
        url: browseUrl(plan.href || connection.endpoint, plan.plan_key),
      }),
    ],
  },
})
