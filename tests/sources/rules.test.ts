/** Rules of every source with runs on branches, and of every tracker: production by branch, and incidents by text. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { branchName } from '../../src/domain/deliveries.ts'
import { cicdPipelines, cicdTasks } from '../../src/domain/devops.ts'
import { issues } from '../../src/domain/ticket.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { plugins } from '../../src/plugins/index.ts'
import type { VendorUnderTest } from '../convergence/support/vendor-under-test.ts'
import { azuredevopsVendor } from '../convergence/vendors/azuredevops.ts'
import { bitbucketVendor } from '../convergence/vendors/bitbucket.ts'
import { circleciVendor } from '../convergence/vendors/circleci.ts'
import { githubVendor } from '../convergence/vendors/github.ts'
import { gitlabVendor } from '../convergence/vendors/gitlab.ts'
import { jenkinsVendor } from '../convergence/vendors/jenkins.ts'
import { jiraVendor } from '../convergence/vendors/jira.ts'
import { linearVendor } from '../convergence/vendors/linear.ts'
import { describeOneWithTables, type TestDatabase } from '../support/databases.ts'
import { rulesOnTrial } from './rules-on-trial.ts'

/** For fakes whose runs are mostly on the main branch: finds the number or id of a run in a record, and names another branch. */
const ELSEWHERE: Readonly<
  Record<
    string,
    { readonly number: (record: any) => number | string | undefined; readonly on: (branch: string) => object }
  >
> = {
  azuredevops_go: {
    number: ({ sourceBranch, id }) => sourceBranch && id,
    on: (branch) => ({ sourceBranch: `refs/heads/${branch}` }),
  },
  bitbucket: {
    number: ({ target, uuid }) => target?.ref_name && uuid,
    on: (branch) => ({ target: { ref_name: branch, commit: { hash: 'a'.repeat(40) } } }),
  },
  circleci: {
    number: ({ vcs, number }) => vcs?.branch && number,
    on: (branch) => ({ vcs: { revision: 'a'.repeat(40), branch, commit: {} } }),
  },
  gitlab: {
    number: ({ ref, id, pipeline }) => ref && (pipeline?.id ?? id),
    on: (branch) => ({ ref: branch }),
  },
  jenkins: {
    number: ({ actions, number }) => actions && number,
    on: (branch) => ({
      actions: [
        {
          lastBuiltRevision: { SHA1: 'a'.repeat(40), branch: [{ name: `refs/remotes/origin/${branch}` }] },
          remoteUrls: ['https://code.example.com/shop'],
        },
      ],
    }),
  },
}
/** Additional changes that a fake needs. */
const MORE: Readonly<Record<string, readonly (readonly [change: string, count: number])[]>> = {
  bitbucket: [
    ['start pipeline', 6],
    ['finish pipeline', 9],
  ],
  jenkins: [['run build', 24]],
}
const WITH_RUNS = [azuredevopsVendor, bitbucketVendor, circleciVendor, githubVendor, gitlabVendor, jenkinsVendor]
const WITH_ISSUES = [azuredevopsVendor, bitbucketVendor, githubVendor, gitlabVendor, jiraVendor, linearVendor]
/** Sources with patterns of deployments whose runs show no branch, with the reason. */
const WITHOUT_BRANCHES: Readonly<Record<string, string>> = {
  argocd: 'syncs deploy what an application points to',
  bamboo: 'results of a plan tell commits, and no branch',
}

/** Rules about text that is not stored unchanged, and settings that match nothing. */
const WITHOUT_NAMES = [
  'prBodyClosePattern',
  'refdiff',
  'remotelinkCommitShaPattern',
  'remotelinkRepoPattern',
  // Bamboo's repositories by name, and titles of pull requests.
  'epicKeyField',
  'applicationType',
  'repoMap',
  'bitbucket_server.prType',
  'bitbucket_server.prComponent',
]

describe('every source', () => {
  const sources = plugins.flatMap(({ source }) => (source && !source.settingsOf ? [source] : []))
  const converting = ({ entities }: PluginSpec, table: unknown) =>
    entities.filter(({ spec }) => spec.convert?.to.includes(table as never))

  it('that has patterns of deployments has one of branches, or tells none', () => {
    const lacking = sources
      .filter(({ scopeConfig: { fields } }) => 'deploymentPattern' in fields && !('productionBranchPattern' in fields))
      .map(({ name }) => name)
    expect(lacking.sort()).toEqual(Object.keys(WITHOUT_BRANCHES).sort())
    for (const source of sources.filter(({ scopeConfig: { fields } }) => 'productionBranchPattern' in fields)) {
      expect(WITH_RUNS.map(({ interfaces: [plugin] }) => plugin.name)).toContain(source.name)
      for (const { table, spec } of [cicdPipelines, cicdTasks].flatMap((each) => converting(source, each))) {
        // A conversion that reads only new rows must read all when the rule changes.
        const fields = [...(spec.extract?.dependsOn ?? []), ...(spec.convert?.dependsOn ?? [])]
        if (spec.convert?.isIncremental) expect(fields, table.name).toContain('productionBranchPattern')
      }
    }
  })

  it('has rules of which a file is told when they match nothing, or there is nothing to match', () => {
    const unchecked = sources.flatMap(({ name, scopeConfig: { fields, names = {} } }) =>
      Object.entries(fields)
        .filter(([, field]) => ['regex', 'string', 'json'].includes(field.kind))
        .filter(([, field]) => !(field.textsOf ? names[field.textsOf]?.alsoIn : field.names))
        .map(([rule]) => `${name}.${rule}`),
    )
    expect(unchecked.filter((rule) => !WITHOUT_NAMES.some((each) => `.${rule}`.endsWith(`.${each}`)))).toEqual([])
    const silent = sources.flatMap(({ name, scopeConfig: { fields } }) =>
      Object.entries(fields)
        .filter(([, field]) => field.kind === 'json' && field.names && !field.spokenNames)
        .map(([rule]) => `${name}.${rule}`),
    )
    expect(silent).toEqual([])
  })

  it('that is a tracker has a rule about text', () => {
    // The other trackers report only incidents.
    const trackers = sources.filter((source) => converting(source, issues).length > 0)
    const lacking = trackers.filter(({ scopeConfig: { fields } }) => !('issueTextIncident' in fields))
    expect(lacking.map(({ name }) => name).sort()).toEqual(['opsgenie', 'pagerduty'])
    const tested = WITH_ISSUES.map(({ interfaces: [plugin] }) => plugin.name)
    for (const { name } of trackers.filter((each) => !lacking.includes(each))) expect(tested).toContain(name)
  })
})

/** The jobs of a multibranch project are named after its branches, so its scope is left out for Jenkins. */
const onTrial = (vendor: VendorUnderTest, test: TestDatabase) => {
  const [{ name }] = vendor.interfaces
  return rulesOnTrial(vendor, test, {
    more: MORE[name] ?? [],
    elsewhere: ELSEWHERE[name],
    scopes: vendor === jenkinsVendor ? vendor.scopes.slice(1) : vendor.scopes.slice(0, 2),
  })
}

/** The number of cases for each source, on each database. */
const LAWS = process.env.FULL_SIZE ? 20 : 1
const escaped = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '\\$&')
/** Patterns that match some of the texts, all or none. */
const patternOf = (texts: readonly string[]) => {
  const known = texts.filter((text) => text !== '')
  const word = fc.constantFrom(...(known.length > 0 ? known : ['nothing']))
  return fc.oneof(
    word.map((text) => `^${escaped(text)}$`),
    word.map((text) => `(?i)${escaped(text.slice(0, 4))}`),
    fc.array(word, { minLength: 1, maxLength: 3 }).map((some) => some.map(escaped).join('|')),
    fc.constantFrom('', '.', 'nothing like it', '(?i)(deploy|prod|main|bug|incident)'),
  )
}

/** Checks the law of previews: whatever is saved and tried, the preview equals the result of a run after saving. */
function keepsItsWord(
  trial: ReturnType<typeof rulesOnTrial>,
  names: readonly string[],
  texts: () => Promise<string[]>,
) {
  it('a preview gives what saved rules and a run then give, value for value', { timeout: 600_000 }, async () => {
    const pattern = patternOf(await texts())
    const own = names.filter((name) => name in trial.fields)
    const types = fc.dictionary(
      fc.constantFrom('Bug', 'Story', 'Task', 'Incident', 'Epic'),
      fc.record({ standardType: fc.constantFrom('REQUIREMENT', 'BUG', 'INCIDENT') }, { noNullPrototype: true }),
      { noNullPrototype: true },
    )
    const rules = fc.record(Object.fromEntries(own.map((name) => [name, name === 'typeMappings' ? types : pattern])), {
      requiredKeys: [],
      noNullPrototype: true,
    })
    // Each source gets another case.
    const seed = Number(process.env.FAST_CHECK_SEED ?? 32) + own.length * 1000 + [...(await texts())].join('').length
    for (const [saved, tried] of fc.sample(fc.tuple(rules, rules), { numRuns: LAWS, seed })) {
      const told = JSON.stringify({ saved, tried })
      await trial.run(saved)
      await trial.keys()
      const before = await trial.decided()
      const preview = await trial.preview(tried)
      expect(await trial.decided(), told).toEqual(before)
      await trial.run({ ...saved, ...tried })
      if (Object.keys(tried).length > 0) expect(preview.made, told).toEqual(await trial.decided())
      expect(preview.keys, told).toEqual(await trial.keys())
      // Trying saved rules again changes nothing.
      const again = await trial.preview(tried)
      expect(again.keys, told).toEqual(preview.keys)
    }
  })
}

describe.each(WITH_RUNS)('$name', (vendor) => {
  describeOneWithTables(`production by branch of ${vendor.name}`, (test) => {
    const trial = onTrial(vendor, test)
    const { run, rows, preview } = trial
    const runs = async () => {
      const commits = await rows('select pipeline_id, branch from cicd_pipeline_commits')
      const byRun = Map.groupBy(commits, ({ pipeline_id }) => pipeline_id)
      const isOnMain = (id: string) => {
        const branches = (byRun.get(id) ?? []).map(({ branch }) => branchName(branch ?? ''))
        return branches.length > 0 && branches.every((branch) => branch === 'main')
      }
      const columns = 'id, name, type, environment'
      return {
        // A run without separate jobs also counts as its only job.
        pipelines: (
          await rows(`select ${columns} from cicd_pipelines
            union all select ${columns} from cicd_tasks where id = pipeline_id order by id, name`)
        ).map((each) => ({ ...each, isOnMain: isOnMain(each.id) })),
        jobs: (await rows(`select ${columns}, pipeline_id from cicd_tasks where id <> pipeline_id order by id`)).map(
          (each) => ({ ...each, isOnMain: isOnMain(each.pipeline_id) }),
        ),
      }
    }
    const production = ({ type, environment }: any) => type === 'DEPLOYMENT' && environment === 'PRODUCTION'
    let before: Awaited<ReturnType<typeof runs>>

    it('every run on the branch deploys to production, and no other', { timeout: 120_000 }, async () => {
      await run({})
      before = await runs()
      expect(new Set(before.pipelines.map(({ isOnMain }) => isOnMain))).toEqual(new Set([true, false]))
      expect(before.pipelines.filter(production)).toEqual([])
      const rules = { productionBranchPattern: '^main$' }
      const told = (await preview(rules)).effect('productionBranchPattern')
      await run(rules)
      const { pipelines, jobs } = await runs()
      for (const each of pipelines) expect(production(each), JSON.stringify(each)).toBe(each.isOnMain)
      expect(jobs.filter(({ type }) => type !== '')).toEqual([])
      const count = pipelines.filter(production).length
      expect(told).toEqual({ matching: count, starting: count, stopping: 0 })
    })

    it('a job deploys to production by its name on the branch of its run', { timeout: 120_000 }, async () => {
      const names = [true, false].map(
        (isHere) => before.jobs.find(({ isOnMain }) => isOnMain === isHere)?.name as string,
      )
      const deploys = ({ name }: { readonly name: string }) => names.includes(name)
      const deploymentPattern = `^(${names.map((name) => name.replace(/\W/g, '\\$&')).join('|')})$`
      const rules = { deploymentPattern, productionBranchPattern: '^main$' }
      const told = (await preview(rules)).effect('productionBranchPattern')
      await run(rules)
      const { jobs, pipelines } = await runs()
      for (const each of jobs.filter(deploys)) {
        const environment = each.isOnMain ? 'PRODUCTION' : ''
        expect([each.type, each.environment], JSON.stringify(each)).toEqual(['DEPLOYMENT', environment])
      }
      expect(new Set(jobs.filter(deploys).map(({ isOnMain }) => isOnMain))).toEqual(new Set([true, false]))
      expect(jobs.filter((job) => !deploys(job) && production(job))).toEqual([])
      const now = pipelines.filter(production)
      expect(told.matching).toBe(jobs.filter(production).length + now.length)
      expect(told.stopping).toBe(before.pipelines.filter(({ isOnMain }) => isOnMain).length - now.length)
    })

    it('without the rule everything is as before', { timeout: 120_000 }, async () => {
      await run({})
      expect(await runs()).toEqual(before)
    })

    const RULES = ['deploymentPattern', 'productionPattern', 'productionBranchPattern', 'envNamePattern']
    keepsItsWord(trial, RULES, async () => {
      const names = await rows(`select name from cicd_tasks union select branch from cicd_pipeline_commits
        union select original_environment from cicd_deployments`)
      return names.map(({ name }) => name ?? '')
    })
  })
})

describe.each(WITH_ISSUES)('$name', (vendor) => {
  describeOneWithTables(`incidents by text of ${vendor.name}`, (test) => {
    const trial = onTrial(vendor, test)
    const { run, rows, preview } = trial
    const read = () => rows('select id, type, title, description from issues order by id')
    // In Linear everything is a requirement that no label says to be something else.
    const COUNTED = ['BUG', 'INCIDENT', ...(vendor === linearVendor ? [] : ['REQUIREMENT'])]
    const label =
      vendor === jiraVendor ? { typeMappings: { Bug: { standardType: 'BUG' } } } : { issueTypeBug: '(?i)bug' }
    let before: any[]

    it('an issue whose title or description matches is one, unless it is told what it is', {
      timeout: 120_000,
    }, async () => {
      await run(label)
      before = await read()
      const open = before.filter(({ type }) => !COUNTED.includes(type) && type !== 'SUBTASK')
      expect(open.length).toBeGreaterThan(1)
      // One incident by its title, and another by its description.
      const body = open.find(({ description }) => description)?.description.slice(0, 40)
      const issueTextIncident = [open[0].title, ...(body ? [body] : [])].map(escaped).join('|')
      const rules = { ...label, issueTextIncident }
      const told = (await preview(rules)).effect('issueTextIncident')
      await run(rules)
      const after = await read()
      const matched = new RegExp(issueTextIncident)
      const expected = before.map((issue) =>
        open.includes(issue) && [issue.title, issue.description ?? ''].some((text) => matched.test(text))
          ? { ...issue, type: 'INCIDENT' }
          : issue,
      )
      expect(after).toEqual(expected)
      const changed = after.filter(({ type }, index) => type !== before[index].type).length
      expect(changed).toBeGreaterThan(0)
      expect(told).toEqual({ matching: changed, starting: changed, stopping: 0 })
      const without = (await preview({ issueTextIncident: '' })).effect('issueTextIncident')
      expect(without).toEqual({ matching: 0, starting: 0, stopping: changed })
    })

    it('without the rule everything is as before', { timeout: 120_000 }, async () => {
      await run(label)
      expect(await read()).toEqual(before)
    })

    const RULES = ['issueTypeRequirement', 'issueTypeBug', 'issueTypeIncident', 'issueTextIncident', 'typeMappings']
    keepsItsWord(trial, RULES, async () => {
      const words = await rows('select label_name as word from issue_labels union select title from issues')
      return words.map(({ word }) => word ?? '')
    })
  })
})
