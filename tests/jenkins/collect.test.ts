/** Requests to Jenkins in first and later runs, and the rows that come from the answers. */
import { expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { gapsOf, receiptOf, stored, storedBuilds, useJenkins } from './support/jenkins.ts'

const RULES = { deploymentPattern: 'deploy', productionPattern: 'prod' }

describeOneWithTables('collecting from jenkins', (test) => {
  const { start, run: runAll } = useJenkins(test)
  const run = (fullName: string, options = {}) => runAll(fullName, { scopeConfig: RULES, ...options })
  const all = (table: string, ...columns: string[]) => stored(test.database, table, ...columns)

  it('reads a job with commits of all checkouts, its cause and its stages', async () => {
    const fake = await start('team/deploy prod')
    fake.add('folder', 'team')
    fake.add('pipeline', 'team/deploy prod')
    fake.build('team/deploy prod', {
      commits: [
        { sha: 'aaa', url: 'https://git.example.com/app.git' },
        { sha: 'bbb', url: 'https://git.example.com/library.git', branch: 'refs/remotes/origin/stable' },
      ],
      upstream: { project: 'team/build', build: 7 },
      stages: ['build', 'deploy prod'],
      result: 'ABORTED',
    })
    fake.build('team/deploy prod')
    await run('team/deploy prod')
    expect(await all('_tool_jenkins_builds', 'full_name', 'triggered_by', 'job_path', 'job_name')).toEqual([
      {
        full_name: 'team/deploy prod#1',
        triggered_by: 'team/build#7',
        job_path: 'job/team/',
        job_name: 'deploy prod',
      },
      { full_name: 'team/deploy prod#2', triggered_by: '', job_path: 'job/team/', job_name: 'deploy prod' },
    ])
    const commits = await all('cicd_pipeline_commits', 'commit_sha', 'repo_url', 'branch', 'pipeline_id', 'url')
    expect(commits).toMatchObject([
      { commit_sha: 'aaa', repo_url: 'https://git.example.com/app.git', url: `${fake.endpoint}x/1` },
      {
        commit_sha: 'bbb',
        branch: 'refs/remotes/origin/stable',
        pipeline_id: 'jenkins:JenkinsBuild:1:team/deploy prod#1',
      },
    ])
    expect(await all('cicd_pipelines', 'name', 'result', 'type', 'environment', 'cicd_scope_id')).toEqual([
      {
        name: 'team/deploy prod#1',
        result: 'FAILURE',
        type: 'DEPLOYMENT',
        environment: 'PRODUCTION',
        cicd_scope_id: 'jenkins:JenkinsJob:1:team/deploy prod',
      },
      expect.objectContaining({ name: 'team/deploy prod#2', result: 'SUCCESS' }),
    ])
    // The stages of a build are its tasks. A build without stages is its own task.
    expect((await all('cicd_tasks', 'id')).map(({ id }) => id)).toEqual([
      'jenkins:JenkinsBuild:1:team/deploy prod#2',
      'jenkins:JenkinsStage:1:team/deploy prod#1:6',
      'jenkins:JenkinsStage:1:team/deploy prod#1:7',
    ])
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('gives unstable and unbuilt builds a result, keeps milliseconds and every remote', async () => {
    const fake = await start('app')
    fake.add('freestyle', 'app')
    const timestamp = Date.parse('2026-05-01T10:00:00.939Z')
    const remotes = ['https://git.example.com/app.git', 'https://mirror.example.com/app.git']
    fake.build('app', { timestamp, duration: 4, result: 'UNSTABLE', commits: [{ sha: 'aaa', url: remotes }] })
    fake.build('app', { timestamp, duration: 4, result: 'NOT_BUILT' })
    const results = async (unstableResult: string) => {
      await run('app', { scopeConfig: { ...RULES, unstableResult } })
      return (await all('cicd_pipelines', 'name', 'result')).map(({ result }) => result)
    }
    expect(await results('FAILURE')).toEqual(['FAILURE', 'FAILURE'])
    // A scope config that was stored before the field existed.
    expect(await results('')).toEqual(['FAILURE', 'FAILURE'])
    expect(await results('SUCCESS')).toEqual(['SUCCESS', 'FAILURE'])
    const dates = { started_date: new Date(timestamp), finished_date: new Date(timestamp + 4) }
    expect(await all('cicd_pipelines', 'name', 'started_date', 'finished_date')).toMatchObject([dates, dates])
    expect(await all('cicd_tasks', 'name', 'started_date', 'finished_date')).toMatchObject([dates, dates])
    expect(await all('_tool_jenkins_build_remotes', 'position', 'repo_url', 'commit_sha')).toEqual(
      remotes.map((repo_url, index) => ({ position: index + 1, repo_url, commit_sha: 'aaa' })),
    )
    expect(await all('cicd_pipeline_commits', 'repo_url')).toEqual([{ repo_url: remotes[0] }])
    // Rules from a DevLake plan lack the field, and give the same result as DevLake.
    await run('app')
    expect(await all('cicd_pipelines', 'name', 'result', 'created_date')).toEqual([
      { name: 'app#1', result: '', created_date: new Date('2026-05-01T10:00:00Z') },
      { name: 'app#2', result: 'FAILURE', created_date: new Date('2026-05-01T10:00:00Z') },
    ])
  })

  it('reads a multibranch project by its branches, whose names have slashes', async () => {
    const fake = await start('app')
    fake.add('multibranch', 'app')
    for (const branch of ['main', 'feature%2Flogin', 'never-built']) fake.add('pipeline', `app/${branch}`)
    fake.build('app/main', { stages: ['build'], commits: [{ sha: 'aaa', url: 'https://git.example.com/app.git' }] })
    fake.build('app/feature%2Flogin', { stages: ['build'] })
    await run('app')
    expect(Object.keys(await storedBuilds(test.database))).toEqual(['app/feature%2Flogin#1', 'app/main#1'])
    expect(await all('_tool_jenkins_stages', 'build_name')).toHaveLength(2)
    expect(new Set((await all('cicd_pipelines', 'cicd_scope_id')).map((row) => row.cicd_scope_id))).toEqual(
      new Set(['jenkins:JenkinsJob:1:app']),
    )
    expect(await all('cicd_pipeline_commits', 'url')).toEqual([{ url: `${fake.endpoint}x/job/main/1` }])
    expect(fake.requests.filter((path) => path.includes('never-built'))).toEqual([])
    // The scope itself is still the only stored job.
    expect(await all('_tool_jenkins_jobs', 'full_name')).toEqual([{ full_name: 'app' }])
  })

  it('asks later for nothing but the list of jobs, where nothing was built', async () => {
    const fake = await start('app')
    fake.add('multibranch', 'app')
    for (let branch = 0; branch < 30; branch++) {
      fake.add('pipeline', `app/b${branch}`)
      for (let count = 0; count < 3; count++) fake.build(`app/b${branch}`, { stages: ['build'] })
    }
    await run('app')
    const before = await all('cicd_tasks', 'id', 'updated_at')
    fake.requests.length = 0
    await run('app')
    expect(fake.requests).toHaveLength(1)
    expect(await all('cicd_tasks', 'id', 'updated_at')).toEqual(before)
  })

  it('asks later for new builds and for unfinished ones, by their numbers', async () => {
    const fake = await start('job')
    fake.add('pipeline', 'job')
    for (let count = 0; count < 250; count++) fake.build('job', { stages: ['build'] })
    const going = fake.build('job', { building: true, stages: ['build', 'deploy'] })
    for (let count = 0; count < 120; count++) fake.build('job')
    await run('job')
    const pending = await all('cicd_pipelines', 'status', 'name', 'result', 'finished_date')
    expect(pending.filter(({ status }) => status === 'IN_PROGRESS')).toEqual([
      { status: 'IN_PROGRESS', name: 'job#251', result: '', finished_date: null },
    ])
    fake.finish(going, 'FAILURE')
    fake.build('job', { stages: ['build'] })
    fake.requests.length = 0
    await run('job')
    const asked = fake.requests.map((path) => path.replace(/^.*\/job\/job\//, '').replace(/\?.*$/, ''))
    const each = ['251/api/json', '251/wfapi/describe', '372/wfapi/describe', 'api/json', 'api/json']
    expect(asked.sort()).toEqual(each)
    expect(Object.keys(await storedBuilds(test.database))).toHaveLength(372)
    expect((await storedBuilds(test.database))['job#251']).toBe('FAILURE')
    const tasks = await all('cicd_tasks', 'id', 'result', 'original_status')
    expect(tasks.filter(({ id }) => id.includes('#251'))).toEqual([
      { id: 'jenkins:JenkinsStage:1:job#251:6', result: 'FAILURE', original_status: 'SUCCESS' },
      { id: 'jenkins:JenkinsStage:1:job#251:7', result: 'FAILURE', original_status: 'FAILURE' },
    ])
  })

  it('asks for a hundred builds at a time at most', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    for (let count = 0; count < 350; count++) fake.build('job')
    await run('job')
    const ranges = fake.requests.flatMap((path) => (path.includes('allBuilds') ? path.match(/\{\d+,\d+\}/) : []))
    expect(ranges).toEqual(['{0,100}', '{99,199}', '{198,298}', '{297,397}'])
    expect(Object.keys(await storedBuilds(test.database))).toHaveLength(350)
    expect(await receiptOf(test.database, 'jenkins_api_builds')).toMatchObject({ status: 'complete', stored: 350 })
  })

  it('begins where the project wants it to, and asks jobs that were not built since for nothing', async () => {
    const fake = await start('app')
    const timeAfter = new Date('2024-06-01T00:00:00Z')
    fake.add('multibranch', 'app')
    for (const branch of ['old', 'both']) fake.add('freestyle', `app/${branch}`)
    for (const month of [0, 2, 4, 6, 8]) {
      for (const branch of month < 5 ? ['old', 'both'] : ['both']) {
        fake.build(`app/${branch}`, { timestamp: Date.UTC(2024, month, 1) })
      }
    }
    await run('app', { timeAfter })
    expect(Object.keys(await storedBuilds(test.database))).toEqual(['app/both#4', 'app/both#5'])
    fake.build('app/both')
    await run('app', { timeAfter })
    expect(Object.keys(await storedBuilds(test.database))).toHaveLength(3)
    expect(fake.requests.filter((path) => path.includes('/job/old/'))).toEqual([])
  })

  it('works with a plan that tells the job itself, although the connection has other jobs', async () => {
    const fake = await start('other')
    fake.add('folder', 'team')
    fake.add('freestyle', 'team/job')
    fake.build('team/job')
    const { jenkins } = await import('../../src/plugins/jenkins/plugin.ts')
    const options = { connectionId: 1, jobName: 'job', jobFullName: 'team/job', jobPath: 'job/team/' }
    const signal = new AbortController().signal
    for (const subtask of jenkins.subtasks) {
      await subtask.run({ database: test.database, options, fullSync: false, signal, progress: () => {} })
    }
    expect(await storedBuilds(test.database)).toEqual({ 'team/job#1': 'SUCCESS' })
    await expect(run('team/job')).rejects.toThrow('connection 1 has no scope with fullName "team/job"')
  })
})
