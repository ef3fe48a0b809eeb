/** Tries rules in a thread. */
import { previewOfProject, type TriedRules } from '../../control-plane/scopes/rule-preview.ts'
import { plugins } from '../../plugins/index.ts'
import { onOwnDatabase } from './own-database.ts'

export const previewRules = (url: string, tried: TriedRules) =>
  onOwnDatabase(url, (database) => previewOfProject({ database, plugins }, tried))
