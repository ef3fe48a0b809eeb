import { Command } from 'commander'
import packageFile from '../package.json' with { type: 'json' }
import { explainUsage } from './cli/explain-usage.ts'
import { commandsFor } from './cli/index.ts'
import { messageOf, UnavailableError, UserError } from './errors.ts'
import { redact } from './log.ts'

// One database driver reads timestamps without a time zone as local time.
process.env.TZ = 'UTC'
if (new Date().getTimezoneOffset() !== 0) throw new Error('the process does not run in UTC')

// Messages and help show the name as it is typed in a shell.
const program = new Command('npx weir').description(packageFile.description).version(packageFile.version)
const [word] = process.argv.slice(2)
if (word !== '--version') for (const command of await commandsFor(word)) program.addCommand(command)
explainUsage(program)

try {
  await program.parseAsync()
} catch (error) {
  const line = messageOf(error)
    .split('\n')
    .map((each) => each.trim())
    .join(' ')
  const isOurs = error instanceof Error && !(error instanceof UserError || error instanceof UnavailableError)
  console.error(redact(isOurs ? `weir: unexpected error: ${error.stack ?? line}` : `weir: ${line}`))
  process.exitCode = 1
}
