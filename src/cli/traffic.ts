import { Command } from 'commander'
import { engineOn } from '../traffic/connect.ts'
import { createRuntime, withDatabase } from './runtime.ts'
import { planCommands } from './traffic/plan-commands.ts'
import { switchCommands, type WithEngine } from './traffic/switch-commands.ts'

const withEngine: WithEngine = (body) =>
  withDatabase(
    createRuntime(),
    (database) => body(engineOn(database)),
    () => {},
  )

export const traffic = new Command('traffic').description('switch weighted traffic between two clusters')
for (const command of [...planCommands, ...switchCommands(withEngine)]) traffic.addCommand(command)
