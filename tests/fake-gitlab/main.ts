import { startFakeGitlab } from './fake-gitlab.ts'

/** Runs a fake GitLab as a process of its own: options as JSON in the first argument, its URL on the first line, until SIGTERM. */
const fake = await startFakeGitlab(JSON.parse(process.argv[2] ?? '{}'))
console.log(fake.url)
process.once('SIGTERM', () => void fake.stop().then(() => process.exit(0)))
