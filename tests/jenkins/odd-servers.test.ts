/** Unusual behaviour of a Jenkins server: each case has a defined outcome. */
import { expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { gapsOf, receiptOf, stored, storedBuilds, useJenkins } from './support/jenkins.ts'

describeOneWithTables('a jenkins', (test) => {
  const { start, run } = useJenkins(test)
  const names = async () => Object.keys(await storedBuilds(test.database))

  it('with a job that was never built has a scope and no builds', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    await run('job')
    expect(await names()).toEqual([])
    expect(await stored(test.database, 'cicd_scopes', 'name')).toEqual([{ name: 'job' }])
    expect(await receiptOf(test.database, 'jenkins_api_builds')).toMatchObject({ status: 'complete', stored: 0 })
  })

  it('that crashed left a build without a result: it is done, and nothing is said of how', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    fake.build('job', { result: null })
    await run('job')
    const pipelines = await stored(test.database, 'cicd_pipelines', 'name', 'status', 'result', 'original_result')
    expect(pipelines).toEqual([{ name: 'job#1', status: 'DONE', result: '', original_result: '' }])
    fake.requests.length = 0
    await run('job')
    expect(fake.requests).toHaveLength(1)
  })

  it('where a build vanishes that was still running takes it from us too', async () => {
    const fake = await start('job')
    fake.add('pipeline', 'job')
    const { number } = fake.build('job', { building: true, stages: ['build'] })
    fake.build('job')
    await run('job')
    expect(await names()).toEqual(['job#1', 'job#2'])
    fake.deleteBuild('job', number)
    await run('job')
    expect(await names()).toEqual(['job#2'])
    expect(await stored(test.database, '_tool_jenkins_stages', 'id')).toEqual([])
    expect(await stored(test.database, 'cicd_pipelines', 'name')).toEqual([{ name: 'job#2' }])
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('that discards old builds keeps them here until everything is asked for', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    for (let count = 0; count < 5; count++) fake.build('job')
    await run('job')
    for (const number of [1, 2]) fake.deleteBuild('job', number)
    fake.build('job')
    await run('job')
    expect(await names()).toHaveLength(6)
    await run('job', { fullSync: true })
    expect(await names()).toEqual(['job#3', 'job#4', 'job#5', 'job#6'])
  })

  it('whose job was made again under the same name has other builds under the same numbers', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    for (let count = 0; count < 3; count++) fake.build('job', { timestamp: 1_700_000_000_000 + count })
    await run('job')
    fake.delete('job')
    fake.add('freestyle', 'job')
    for (let count = 0; count < 4; count++)
      fake.build('job', { timestamp: 1_710_000_000_000 + count, result: 'FAILURE' })
    await run('job')
    expect(new Set(Object.values(await storedBuilds(test.database)))).toEqual(new Set(['FAILURE']))
    expect(await names()).toHaveLength(4)
  })

  it('whose branch was renamed tells its builds under the new name', async () => {
    const fake = await start('app')
    fake.add('multibranch', 'app')
    fake.add('freestyle', 'app/old')
    fake.build('app/old', { timestamp: 1_700_000_000_000 })
    await run('app')
    fake.rename('app/old', 'app/new')
    await run('app')
    expect(await names()).toEqual(['app/new#1'])
    expect(await stored(test.database, 'cicd_pipelines', 'name')).toEqual([{ name: 'app/new#1' }])
  })

  it('whose job is gone, renamed or hidden is told in a sentence, and what was collected stays', async () => {
    const fake = await start('team/job')
    fake.add('folder', 'team')
    fake.add('freestyle', 'team/job')
    fake.build('team/job')
    await run('team/job')
    fake.hidden.add('team/job')
    const sentence = /job\/team\/job\/job\/api\/json.* answers 404: the job is gone, was renamed, or is hidden/
    await expect(run('team/job')).rejects.toThrow(sentence)
    fake.hidden.clear()
    fake.rename('team/job', 'team/other')
    await expect(run('team/job')).rejects.toThrow(sentence)
    expect(await names()).toEqual(['team/job#1'])
  })

  it('with a branch that is gone between the list and its builds continues without it', async () => {
    const fake = await start('app')
    fake.add('multibranch', 'app')
    for (const branch of ['a', 'b']) {
      fake.add('freestyle', `app/${branch}`)
      fake.build(`app/${branch}`)
    }
    await run('app', { only: ({ name }: { name: string }) => /ApiJobs$/.test(name) })
    fake.delete('app/a')
    await run('app', { only: ({ name }: { name: string }) => !/ApiJobs$/.test(name) })
    expect(await names()).toEqual(['app/b#1'])
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('without the plugin that tells stages has builds that are their own tasks', async () => {
    const fake = await start('job')
    fake.hasStages = false
    fake.add('pipeline', 'job')
    fake.build('job', { stages: ['build'] })
    await run('job')
    expect(await stored(test.database, 'cicd_tasks', 'id')).toEqual([{ id: 'jenkins:JenkinsBuild:1:job#1' }])
    // Once the plugin for stages is there, a full sync collects them.
    fake.hasStages = true
    await run('job', { fullSync: true })
    expect(await stored(test.database, 'cicd_tasks', 'id')).toEqual([{ id: 'jenkins:JenkinsStage:1:job#1:6' }])
  })

  it('that answers with a page to log in loses a list, and the next run gets it', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    fake.build('job')
    fake.failures.push(...Array.from({ length: 9 }, () => ({ path: 'allBuilds', status: 200 })))
    const results = await run('job')
    expect(results.collectApiBuilds?.remarks?.join()).toMatch(/JSON|HTML|page/)
    expect(await gapsOf(test.database)).toHaveLength(1)
    expect(await names()).toEqual([])
    fake.failures.length = 0
    await run('job')
    expect(await names()).toEqual(['job#1'])
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('that loses builds in the middle while they are read makes us read those again that moved up', async () => {
    const fake = await start('job')
    fake.add('freestyle', 'job')
    for (let count = 0; count < 300; count++) fake.build('job')
    fake.onRequest = () => {
      // After the first page its builds are deleted, so the next page begins later in the list.
      if (fake.requests.at(-1)?.includes('{99,199}'))
        for (let number = 300; number > 290; number--) fake.deleteBuild('job', number)
    }
    await run('job')
    const found = new Set(await names())
    const kept = Array.from({ length: 290 }, (_, index) => `job#${index + 1}`)
    expect(kept.filter((name) => !found.has(name))).toEqual([])
    expect(await gapsOf(test.database)).toEqual([])
  })
})
