import type { Command } from 'commander'
import { engineOn } from '../../../traffic/engine/connect.ts'
import { hasEmbedded } from '../../database/embedded/embedded.ts'
import { createRuntime, withDatabase } from '../runtime.ts'
import { planCommands } from './plan-commands.ts'
import { surveyCommands } from './survey-commands.ts'
import { switchCommands, type WithEngine } from './switch-commands.ts'

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

export const trafficCommands: readonly Command[] = [...planCommands, ...surveyCommands, ...switchCommands(withEngine)]
