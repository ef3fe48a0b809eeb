/** A generated Jenkins in a process of its own, so that it takes nothing from what is measured. Ends with its input. */
import { startFakeJenkins } from './fake-jenkins.ts'
import { generate } from './generate.ts'

const [branches = '1', buildsOfJob = '1', latency = '0'] = process.argv.slice(2)
const fake = await startFakeJenkins()
fake.latencyMilliseconds = Number(latency)
generate(fake, { folders: 1, jobsInFolder: 0, branches: Number(branches), buildsOfJob: Number(buildsOfJob) })
console.log(JSON.stringify({ endpoint: fake.endpoint }))
process.stdin.on('data', () => console.log(JSON.stringify({ requests: fake.requests.splice(0).length })))
process.stdin.on('end', () => fake.stop())
