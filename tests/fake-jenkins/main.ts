/** Runs a generated Jenkins in a separate process, so that it does not affect measurements. It ends when its input ends. */
import { startFakeJenkins } from './fake-jenkins.ts'
import { generate } from './generate.ts'

const [branches = '1', buildsOfJob = '1', latency = '0'] = process.argv.slice(2)
const fake = await startFakeJenkins()
fake.latencyMilliseconds = Number(latency)
generate(fake, { folders: 1, jobsInFolder: 0, branches: Number(branches), buildsOfJob: Number(buildsOfJob) })
console.log(JSON.stringify({ endpoint: fake.endpoint }))
process.stdin.on('data', () => console.log(JSON.stringify({ requests: fake.requests.splice(0).length })))
process.stdin.on('end', () => fake.stop())
