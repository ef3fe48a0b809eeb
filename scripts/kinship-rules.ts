/**
 * Two plugins belong to one family if one of them says so by `settingsOf`, and src/plugin-kit/task/family.ts alone reads that.
 * Other code must not guess it, neither from names that begin alike nor from the beginning of a raw table's name. Such a guess
 * has deleted the data of another tool.
 */
import { placeAt, type SourceFile } from './source-file.ts'

const FAMILY = 'src/plugin-kit/task/family.ts'
const RAW_TABLE = 'src/plugin-kit/raw/raw-table.ts'

interface Rule {
  readonly pattern: RegExp
  readonly remedy: string
  readonly exceptIn?: string
}

const RULES: readonly Rule[] = [
  {
    pattern: /_raw_\$\{/g,
    remedy: 'rawName makes the name of a raw table, and rawsOfFamily says which ones are of a source',
    exceptIn: RAW_TABLE,
  },
  {
    pattern: /['"`]_raw_['"`]\s*\+/g,
    remedy: 'rawName makes the name of a raw table, and rawsOfFamily says which ones are of a source',
  },
  {
    pattern:
      /\.(?:startsWith|indexOf|match|search)\(\s*(?:`[^`]*\$\{[^}]*\}_?`|[\w.]*(?:[pP]lugin|[sS]ource|[sS]pec)\w*(?:\.name)?\s*(?:\+|\)))/g,
    remedy: 'a name does not tell which plugins belong together: use pluginsOfFamily',
  },
  {
    pattern: /\b(?:substr|substring|left)\(\s*(?:\$\{sql\.ref\(')?_?(?:raw_data_table|raw_table|plugin)\b/gi,
    remedy: 'how a name begins does not tell whose row it is: use isOfFamily',
  },
  {
    pattern: /(?:raw_data_table|raw_table|rawTable|\bplugin(?:Name|\.name|_name)?)\w*\)?\.startsWith\(/g,
    remedy: 'how a name begins does not tell whose it is: use rawsOfFamily or pluginsOfFamily',
  },
  {
    pattern: /(?:raw_data_table|raw_table|\bplugin(?:_name)?)'?\)?\}?'?,?\s+'?like\b/gi,
    remedy: 'how a name begins does not tell whose row it is: use isOfFamily',
  },
  {
    pattern: /settingsOf(?:\?\.name)?\s*\?\?/g,
    remedy: 'ownerOf says which plugin another works for',
    exceptIn: FAMILY,
  },
]

const isRuled = (path: string) => path.startsWith('src/') && !/\.test\.ts$|(^|\/)test-/.test(path)

/** One line for each place that guesses which plugins belong together. */
export const findGuessedKin = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ path }) => isRuled(path))
    .flatMap((file) =>
      RULES.filter(({ exceptIn }) => file.path !== exceptIn).flatMap(({ pattern, remedy }) =>
        [...file.text.matchAll(pattern)]
          .filter(([found]) => !isSeparated(found))
          .map(({ index }) => `${placeAt(file, index)}: ${remedy}`),
      ),
    )

/** A prefix that ends in a character which no name contains, such as a slash, belongs to one plugin only. */
const isSeparated = (found: string): boolean => /\}[^_`\w]+`/.test(found)
