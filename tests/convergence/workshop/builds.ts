import { bigint, key, string, timestamp } from '../../../src/database/table.ts'
import { cicdDeployments, cicdPipelineCommits, cicdPipelines } from '../../../src/domain/devops.ts'
import { linkHeader, pageNumber } from '../../../src/plugin-kit/http/index.ts'
import { leftJoin } from '../../../src/plugin-kit/spec/entity.ts'
import { boards, entity, ofScope, people, table } from './kit.ts'

export const builds = table('builds', 'WorkshopBuild', {
  id: key(bigint()),
  board_id: ofScope(),
  status: string(20),
  sha: string(40),
  started_date: timestamp('started_at'),
  finished_date: timestamp('finished_at'),
})

/** The same commit is built on several boards. */
export const commits = table('commits', 'WorkshopCommit', {
  sha: key(string(40)),
  message: string(),
  author_id: bigint('author.id'),
})

export const deploys = table('deploys', 'WorkshopDeploy', {
  id: key(bigint()),
  board_id: ofScope(),
  status: string(20),
  created_date: timestamp('created_at'),
})

const UNFINISHED = { status: ['running'] }

export const buildEntity = entity(builds, {
  label: 'Builds',
  domainTypes: ['CICD'],
  raw: 'workshop_builds',
  collect: {
    request: ({ scope }) => ({ path: `boards/${scope.id}/builds` }),
    paging: linkHeader(2),
    incremental: {
      newestFirstBy: 'started_at',
      refetch: { where: UNFINISHED, request: ({ id }) => ({ path: `builds/${id}` }) },
    },
    emptyOn: [404],
  },
  convert: {
    to: [cicdPipelines, cicdPipelineCommits],
    joins: { commit: leftJoin(commits, { connection_id: 'connection_id', sha: 'sha' }) },
    *rows({ commit, ...build }, { idOf, scope }) {
      const id = idOf(builds, build.id)
      yield cicdPipelines.row({
        id,
        status: build.status,
        started_date: build.started_date,
        finished_date: build.finished_date,
        cicd_scope_id: idOf(boards, scope.id),
      })
      if (commit) {
        yield cicdPipelineCommits.row({ pipeline_id: id, commit_sha: build.sha, commit_msg: commit.message })
      }
    },
  },
})

export const commitEntity = entity(commits, {
  label: 'Commits',
  domainTypes: ['CODE'],
  raw: 'workshop_commits',
  collect: {
    forEach: { table: builds, input: ({ sha }) => ({ sha }), atOnce: () => 2 },
    key: ({ sha }) => sha,
    request: ({ inputs }) => ({ path: 'commits', query: { sha: inputs.map(({ sha }) => sha) } }),
  },
  extract: {
    writes: [people],
    rows: (commit, { read }) => [read(commits, commit), read(people, commit.author)],
  },
})

export const deployEntity = entity(deploys, {
  label: 'Deploys',
  domainTypes: ['CICD'],
  raw: 'workshop_deploys',
  collect: {
    request: ({ scope }) => ({ path: `boards/${scope.id}/deploys` }),
    paging: pageNumber({ size: 2, total: ({ body }) => body?.total }),
    records: (body) => body.deploys ?? [body],
    windows: {
      cap: 4,
      earliest: new Date(Date.UTC(2020, 0, 1)),
      query: ({ from, to }) => ({ from: from.toISOString(), to: to.toISOString() }),
      total: ({ body }) => body.total,
      by: 'created_date',
    },
    incremental: { refetch: { where: UNFINISHED, request: ({ id }) => ({ path: `deploys/${id}` }) } },
    emptyOn: [404],
  },
  convert: {
    to: [cicdDeployments],
    isIncremental: true,
    rows: (deploy, { idOf, scope }) => [
      cicdDeployments.row({
        id: idOf(deploys, deploy.id),
        cicd_scope_id: idOf(boards, scope.id),
        status: deploy.status,
        created_date: deploy.created_date as Date,
      }),
    ],
  },
})
