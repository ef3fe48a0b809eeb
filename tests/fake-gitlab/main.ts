import { startFakeGitlab } from './fake-gitlab.ts'

/** Runs a fake GitLab in a separate process until SIGTERM. Options are JSON in the first argument. The first line printed is its URL. */
const fake = await startFakeGitlab(JSON.parse(process.argv[2] ?? '{}'))
console.log(fake.url)
process.once('SIGTERM', () => void fake.stop().then(() => process.exit(0)))
