import type { Plugin } from '../../plugin-kit/subtask.ts'
import { extractCustomizedFields } from './extract-fields.ts'
import { customizedFields } from './fields.ts'

export const customize: Plugin = {
  name: 'customize',
  title: 'Own fields and CSV files',
  tables: [customizedFields],
  subtasks: [extractCustomizedFields],
}
