import { Command } from 'commander'
import { hasEmbedded } from '../database/embedded/embedded.ts'
import { engineOn } from '../traffic/engine/connect.ts'
import { createRuntime, withDatabase } from './runtime.ts'
import { planCommands } from './traffic/plan-commands.ts'
import { surveyCommands } from './traffic/survey-commands.ts'
import { switchCommands, type WithEngine } from './traffic/switch-commands.ts'

const withEngine: WithEngine = async (body, withoutDatabase) => {
  const runtime = createRuntime()
  const { databaseUrl, dataFolder } = runtime.config
  if (withoutDatabase !== undefined && !databaseUrl && !hasEmbedded(dataFolder)) return withoutDatabase()
  await withDatabase(
    runtime,
    (database) => body(engineOn(database)),
    () => {},
  )
}

export const traffic = new Command('traffic').description('switch weighted traffic between two clusters')
for (const command of [...planCommands, ...surveyCommands, ...switchCommands(withEngine)]) traffic.addCommand(command)
