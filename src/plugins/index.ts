/** Every plugin, in one list. */
import type { Plugin } from '../plugin-kit/subtask.ts'
import { circleci } from './circleci/plugin.ts'

export const plugins: readonly Plugin[] = [circleci]
