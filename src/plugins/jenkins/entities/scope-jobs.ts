import { entity, inRanges, jobPath, scopeJobs } from '../kit.ts'

const JOB = '_class,name,fullName,url,lastBuild[number,timestamp]'

/** For a multibranch project its branches, and for any other job the job itself, which contains no jobs. */
export default entity(scopeJobs, {
  label: 'Api Jobs',
  domainTypes: ['CICD'],
  raw: 'jenkins_api_jobs',
  collect: {
    request: ({ scope }) => ({
      path: `${jobPath(scope.full_name)}api/json`,
      query: { tree: `${JOB},jobs[${JOB}]{}` },
    }),
    paging: inRanges({ size: 100 }),
    records: (job) => (Array.isArray(job.jobs) ? job.jobs : [job]),
    key: ({ fullName }) => fullName,
    isOwn: ({ fullName }, { scope }) =>
      fullName === scope.full_name || String(fullName).startsWith(`${scope.full_name}/`),
  },
})
