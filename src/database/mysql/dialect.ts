/**
 * The dialect of MySQL 8 and MariaDB 10.11 or newer. Statements use only what both understand: `values(column)` in upserts, no
 * row alias.
 */

import { sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import { createTemporary, type Dialect, nameOfIndex, readableOf, updatedNames } from '../dialect.ts'
import { codeOf } from '../explain.ts'
import type { AnyTable, Column } from '../table.ts'

const TYPES: Record<Column['kind'], string> = {
  string: 'varchar',
  text: 'longtext',
  integer: 'int',
  bigint: 'bigint',
  double: 'double',
  boolean: 'tinyint(1)',
  timestamp: 'datetime(3)',
  date: 'date',
  json: 'json',
  bytes: 'longblob',
}
/** Only MariaDB executes this comment. Its compression is invisible to reads and writes. MySQL has no compressed columns. */
const COMPRESSED = ' /*M!100301 compressed */'

/** Maps catalogue names to kinds. MariaDB stores json as longtext. */
export const KINDS: Record<string, string> = byName({
  varchar: 'string',
  longtext: 'text',
  int: 'integer',
  tinyint: 'boolean',
  datetime: 'timestamp',
  longblob: 'bytes',
})

/** The columns of a row, except text and blob, may not exceed 65,535 bytes. A varchar counts four bytes per character. */
const LONGEST_ROW_BYTES = 65_535
const isTooWide = (table: AnyTable) =>
  (Object.values(table.columns) as Column[]).reduce(
    (sum, { kind, size = 0 }) => sum + (kind === 'string' ? size * 4 + 2 : 12),
    0,
  ) > LONGEST_ROW_BYTES

const quote = (identifier: string) => `\`${identifier.replaceAll('`', '``')}\``

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

export const mysql: Dialect = {
  name: 'mysql',
  quote,
  columnType(column, table) {
    if (column.kind !== 'string') return TYPES[column.kind] + (column.isCompressed ? COMPRESSED : '')
    const isBound = column.isKey || column.index || column.unique
    return table && !isBound && isTooWide(table) ? 'text' : `varchar(${column.size})`
  },
  tableSizes: `select table_name as name, coalesce(data_length + index_length, 0) as bytes,
    coalesce(table_rows, 0) as records
    from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'`,
  indexedTextLength: 255,
  hasInlineIndexes: true,
  // The driver allows only one statement per text, so that injected SQL cannot add another.
  statementsAtOnce: 1,
  createTable(table, indexes = []) {
    const columns = table.names.map((name) => {
      const column = table.columns[name] as Column
      return `${quote(name)} ${this.columnType(column, table)}${column.isGenerated ? ' auto_increment' : ''}${column.isKey || column.isRequired ? ' not null' : ' null'}`
    })
    const keys = table.keys.map((position) => quote(table.names[position] as string))
    if (keys.length > 0) columns.push(`primary key (${keys.join(', ')})`)
    columns.push(...indexes)
    return `create table if not exists ${quote(table.name)} (${columns.join(', ')}) engine=InnoDB row_format=DYNAMIC character set utf8mb4 collate utf8mb4_bin`
  },
  temporary: {
    create: (table) => createTemporary(mysql, table),
    drop: (name) => `drop temporary table if exists ${quote(name)}`,
  },
  appendOnly: {
    schema: 'database()',
    statements: ({ name }) =>
      ['update', 'delete'].map(
        (change) => `create trigger ${quote(`${name}_${change}`)} before ${change} on ${quote(name)} for each row
          signal sqlstate '45000' set message_text = '${name} is only ever added to'`,
      ),
    isRefused: (error) =>
      [
        'ER_BINLOG_CREATE_ROUTINE_NEED_SUPER',
        'ER_TABLEACCESS_DENIED_ERROR',
        'ER_SPECIFIC_ACCESS_DENIED_ERROR',
      ].includes(codeOf(error)),
  },
  isDoneAlready: (error) =>
    [
      'ER_TABLE_EXISTS_ERROR',
      'ER_DUP_FIELDNAME',
      'ER_DUP_KEYNAME',
      'ER_TRG_ALREADY_EXISTS',
      'ER_CANT_DROP_FIELD_OR_KEY',
    ].includes(codeOf(error)),
  uniqueIndexes: `select table_name as table_name, index_name as index_name,
    group_concat(column_name order by seq_in_index separator ',') as columns
    from information_schema.statistics where table_schema = database() and non_unique = 0 and index_name <> 'PRIMARY'
    group by table_name, index_name`,
  primaryKeys: `select table_name as table_name, index_name as key_name,
    group_concat(column_name order by seq_in_index separator ',') as columns
    from information_schema.statistics where table_schema = database() and index_name = 'PRIMARY'
    group by table_name, index_name`,
  replaceKey: ({ name, keys, names }) =>
    `alter table ${quote(name)} drop primary key,
      add primary key (${keys.map((position) => quote(names[position] as string)).join(', ')})`,
  comparison: {
    others: `select distinct table_name as table_name from information_schema.columns
      where table_schema = database() and collation_name <> 'utf8mb4_bin'`,
    convert: (table) => `alter table ${quote(table)} convert to character set utf8mb4 collate utf8mb4_bin`,
  },
  dropIndex: (table, index) => `alter table ${quote(table)} drop index ${quote(index)}`,
  widenColumn(table, name, isIndexed) {
    const column = table.columns[name] as Column
    const modify = `modify column ${quote(name)} ${this.columnType(column, table)}${column.isKey ? ' not null' : ' null'}`
    if (!isIndexed || column.kind !== 'text') return `alter table ${quote(table.name)} ${modify}`
    // An index holds only the beginning of a text, and its definition must say so.
    const index = quote(nameOfIndex(table.name, name))
    const again = column.index ? `, add index ${index} (${quote(name)}(${this.indexedTextLength}))` : ''
    return `alter table ${quote(table.name)} drop index ${index}, ${modify}${again}`
  },
  startOf(unit, expression) {
    if (unit === 'day') return `cast(${expression} as date)`
    if (unit === 'month') return `cast(date_format(${expression}, '%Y-%m-01') as date)`
    return `date_sub(cast(${expression} as date), interval weekday(${expression}) day)`
  },
  later: (unit, date, count) => `date_add(${date}, interval ${count} ${unit})`,
  daysBetween: (start, end) => `datediff(${end}, ${start})`,
  partOf: (text, number) => `substring_index(substring_index(${text}, ',', ${number}), ',', -1)`,
  monthLabel: (expression) => `date_format(${expression}, '%y/%m')`,
  secondsBetween: (start, end) => `(timestampdiff(microsecond, ${start}, ${end}) / 1e6)`,
  milliseconds: 'cast(unix_timestamp(sysdate(3)) * 1000 as signed)',
  moment: (value) => `timestamp '${value.toISOString().replace('T', ' ').slice(0, -1)}'`,
  secondsBefore: (moment, seconds) => `date_sub(${moment}, interval ${seconds} second)`,
  joinAsWritten: 'straight_join',
  double: (expression) => `(${expression} + 0e0)`,
  isDistinct: (one, other) => `not (${one} <=> ${other})`,
  firstMatch: (expression, pattern) => `regexp_substr(${expression}, '${pattern}')`,
  updateFrom: ({ table, source, on, column, value }) =>
    sql`update ${sql.table(table)} as target inner join (${source}) as source on ${sql.raw(on)} set target.${sql.id(column)} = ${sql.raw(value)}`,
  inCodeOrder: (expression) => expression,
  nextNumbers: {
    // MySQL answers from statistics that may be a day old unless told otherwise.
    prepare: 'set @weir = 1 /*!80000 , session information_schema_stats_expiry = 0 */',
    select: `select table_name as name, auto_increment as next from information_schema.tables
      where table_schema = database() and auto_increment is not null`,
  },
  setNextNumber: (table, _column, next) => `alter table ${quote(table)} auto_increment = ${next}`,
  grantReader({ user, password, tables }) {
    const account = `${literal(user)}@'%'`
    return [
      `create user if not exists ${account} identified by ${literal(password)}`,
      `alter user ${account} identified by ${literal(password)}`,
      ...tables.map((each) => {
        const { columns, table } = readableOf(mysql, each)
        return `grant select${columns} on ${table} to ${account}`
      }),
    ]
  },
  onExistingKey(table, names) {
    const updates = updatedNames(table, names).map((name) => `${quote(name)}=values(${quote(name)})`)
    const first = quote(table.names[0] as string)
    return `on duplicate key update ${updates.length === 0 ? `${first}=values(${first})` : updates.join(',')}`
  },
}
