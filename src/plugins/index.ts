/** Every plugin, in one list. */
import type { Plugin } from '../plugin-kit/subtask.ts'
import { circleci } from './circleci/plugin.ts'
import { customize } from './customize/plugin.ts'
import { dora } from './dora/plugin.ts'
import { gitextractor } from './gitextractor/plugin.ts'
import { githubGraphql } from './github/graphql-plugin.ts'
import { github } from './github/plugin.ts'
import { issueTrace } from './issue-trace/plugin.ts'
import { jira } from './jira/plugin.ts'
import { linker } from './linker/plugin.ts'
import { org } from './org/plugin.ts'
import { refdiff } from './refdiff/plugin.ts'
import { webhook } from './webhook/plugin.ts'

export const plugins: readonly Plugin[] = [
  circleci,
  customize,
  github,
  githubGraphql,
  dora,
  gitextractor(() => plugins),
  issueTrace,
  jira,
  linker,
  org,
  refdiff,
  webhook,
]
