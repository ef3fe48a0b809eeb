import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'
import { planData } from './remote-scopes.ts'

export const planPath = (planKey: string): string => `plan/${encodeURIComponent(planKey)}.json`

/** Updates the scope, because a plan may have been renamed since it was added, and a search returns only little of it. */
export const collectPlan: ExtraStep = {
  name: 'CollectPlan',
  domainTypes: ['CICD'],
  async run(task, client) {
    const { plan_key } = task.context.scope
    // If it is deleted, the collectors of its data report that.
    const { status, body } = await client.send({ path: planPath(plan_key), accept: [404] }, task.signal)
    if (status !== 200 || body?.key !== plan_key) return 0
    const plan = planData(body)
    await refreshScope(task, {
      name: plan.name,
      project_key: plan.projectKey,
      project_name: plan.projectName,
      description: plan.description,
      short_name: plan.shortName,
      build_name: plan.buildName,
      short_key: plan.shortKey,
      type: plan.type,
      enabled: plan.enabled,
      href: plan.href,
      rel: plan.rel,
    })
    return 1
  },
}
