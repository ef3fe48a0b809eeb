import { startFakeGithub } from './fake-github.ts'

/** Runs a fake GitHub as a process of its own: options as JSON in the first argument, its URL on the first line, until SIGTERM. */
const fake = await startFakeGithub(JSON.parse(process.argv[2] ?? '{}'))
console.log(fake.url)
process.once('SIGTERM', () => void fake.stop().then(() => process.exit(0)))
