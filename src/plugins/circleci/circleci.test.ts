import { join } from 'node:path'
import { describeFixtures } from '../../../tests/support/plugin-suite.ts'
import { circleci } from './plugin.ts'

describeFixtures(circleci, join(import.meta.dirname, 'fixtures'))
