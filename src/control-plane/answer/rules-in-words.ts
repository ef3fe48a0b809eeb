/** The rules and the policy by which an answer is counted, in plain words. */
import type { HowSure } from '../../metrics/answer/answer.ts'
import { POLICIES, type Policy } from '../../metrics/policy/policy.ts'
import type { Context } from '../attention/question.ts'
import { pageOf } from '../attention/question.ts'
import { scopeRulesOf } from '../scopes/rules-in-force.ts'

/** The decision of each rule in words, by the name of its setting. */
const RULES: ReadonlyMap<string, string> = new Map([
  ['deploymentPattern', 'Builds that are deployments'],
  ['productionPattern', 'Builds that deploy to production'],
  ['productionBranchPattern', 'Branches that deploy to production'],
  ['envNamePattern', 'Environments that are production'],
  ['issueTypeIncident', 'Labels of incidents'],
  ['issueTextIncident', 'Words in title or text of incidents'],
])

/** The policy that a setting turns on, by the name that requests use. */
const REPAIRS: readonly (readonly [isOn: (policy: Policy) => boolean, name: string])[] = [
  [({ firstDeploymentDays }) => firstDeploymentDays !== null, 'first-deployment'],
  [({ linkSquashed }) => linkSquashed, 'squash-and-rebase'],
  [({ countTrunkCommits }) => countTrunkCommits, 'trunk-based'],
  [({ excludeBots }) => excludeBots, 'no-bots'],
  [({ blameWithinHours }) => blameWithinHours !== null, 'blame-window'],
  [({ blameByService }) => blameByService, 'blame-by-service'],
  [({ pairing }) => pairing === 'service-report', 'service-report'],
  [({ rollouts }) => rollouts === 'every-row', 'every-row'],
]

type Rule = HowSure['rules'][number]

export async function rulesOfProjects(context: Context, projects: readonly string[], policy: Policy): Promise<Rule[]> {
  const [only] = projects
  // Each project has rules of its own; those of many say nothing together.
  if (projects.length !== 1 || only === undefined) {
    return [{ rule: 'Policy', value: 'Each project is counted by its own policy and rules.', page: '/projects' }]
  }
  return [...policyRules(policy, only), ...(await mappingRules(context, only))]
}

function policyRules(policy: Policy, project: string): Rule[] {
  const page = pageOf([project], 'policies')
  const repairs = REPAIRS.filter(([isOn]) => isOn(policy)).map(([, name]) => name)
  const meanings = POLICIES.filter(({ name }) => repairs.includes(name)).map(({ meaning }) => meaning)
  const all = meanings.length > 0 ? meanings : ['The usual one: a rollout counts once.']
  return all.map((value) => ({ rule: 'Policy', value, page }))
}

async function mappingRules(context: Context, project: string): Promise<Rule[]> {
  const found = new Map<string, Rule>()
  for (const { source, connection, config, settings } of await scopeRulesOf(context, project)) {
    const page = `/sources/${encodeURIComponent(source.name)}/${Number(connection.id)}/rules/${config ? Number(config.id) : 'new'}?project=${encodeURIComponent(project)}`
    for (const [name, rule] of RULES) {
      const value = settings[name]
      if (typeof value !== 'string' || value === '') continue
      const key = JSON.stringify([rule, value])
      if (!found.has(key)) found.set(key, { rule, value, page })
    }
  }
  return [...found.values()]
}
