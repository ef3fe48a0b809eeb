import { type Config, readConfig } from '../../config/config.ts'

/** The environment's settings, for plugins that keep files or have defaults there. */
export const taskConfig = (): Config => readConfig(process.env)
