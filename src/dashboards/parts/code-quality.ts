/** Panels of findings (`f`) and of measures of files (`m`), as of the latest analysis. */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { count, lines, minutes, share, text } from '../columns.ts'
import type { Panel } from '../dashboard.ts'
import { countIf, double, shareIf } from '../expressions.ts'
import type { Population } from '../populations.ts'
import { numberOf } from './number.ts'

const remedy = 'The chosen projects have no findings, or were never analysed.'
const FILES_REMEDY = 'No measures of files are known: the chosen projects were never analysed.'

const findingsOf = (population: Population, own: Pick<Panel, 'name' | 'title' | 'definition'>, condition: Sql): Panel =>
  numberOf(
    population,
    { ...own, better: 'lower', columns: { value: count(own.title) }, remedy },
    (_query, rows) => sql`select count(*) as value ${rows} and ${condition}`,
  )

const isOpen = sql`f.status not in ('CLOSED', 'RESOLVED', 'FIXED', 'ACCEPTED', 'REVIEWED')`
const isOfType = (type: string) => sql`f.type = ${sql.lit(type)} and ${isOpen}`

export const openBugs = (population: Population): Panel =>
  findingsOf(population, { name: 'bugs', title: 'Bugs', definition: 'Open issues of the type bug.' }, isOfType('BUG'))

export const openVulnerabilities = (population: Population): Panel => {
  const own = {
    name: 'vulnerabilities',
    title: 'Vulnerabilities',
    definition: 'Open issues of the type vulnerability.',
  }
  return findingsOf(population, own, isOfType('VULNERABILITY'))
}

export const hotspotsReviewed = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'hotspots-reviewed',
      title: 'Hotspots reviewed',
      definition: 'Share of the security hotspots that somebody has reviewed.',
      better: 'higher',
      columns: { value: share('Reviewed'), counted: count('Hotspots') },
      remedy,
    },
    (query, rows) => sql`select ${shareIf(query, sql`f.status <> 'TO_REVIEW'`)} as value, count(*) as counted
      ${rows} and f.type = 'HOTSPOTS'`,
  )

export const technicalDebt = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'debt',
      title: 'Technical debt',
      definition: 'Time that it would take to repair all open code smells, as the code scanner estimates it.',
      better: 'lower',
      columns: { value: minutes('Debt'), counted: count('Code smells') },
      remedy,
    },
    (query, rows) => sql`select sum(${double(query, sql`f.debt`)}) as value, count(*) as counted
      ${rows} and ${isOfType('CODE_SMELL')}`,
  )

export const findingsBySeverity = (population: Population): Panel => ({
  name: 'findings-by-severity',
  title: 'Open issues by severity',
  definition: 'Open issues, without security hotspots.',
  look: 'ranking',
  columns: { severity: text('Severity'), value: count('Issues') },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select f.severity as severity, count(*) as value ${from} where ${where} and ${isOpen} and f.type <> 'HOTSPOTS'
      group by f.severity order by value desc, severity`
  },
  remedy,
})

export const testCoverage = (files: Population): Panel =>
  numberOf(
    files,
    {
      name: 'coverage',
      title: 'Coverage',
      definition: 'Share of the lines that can be tested and are run by a test.',
      better: 'higher',
      columns: { value: share('Covered'), counted: lines('Lines to cover') },
      remedy: FILES_REMEDY,
    },
    (
      query,
      rows,
    ) => sql`select 1 - sum(${double(query, sql`m.uncovered_lines`)}) / nullif(sum(${double(query, sql`m.lines_to_cover`)}), 0) as value,
      ${double(query, sql`sum(m.lines_to_cover)`)} as counted ${rows}`,
  )

export const duplicatedLines = (files: Population): Panel =>
  numberOf(
    files,
    {
      name: 'duplicated-lines',
      title: 'Duplicated lines',
      definition: 'Share of the lines that stand elsewhere as well.',
      better: 'lower',
      columns: { value: share('Duplicated'), counted: lines('Lines') },
      remedy: FILES_REMEDY,
    },
    (
      query,
      rows,
    ) => sql`select sum(${double(query, sql`m.duplicated_lines`)}) / nullif(sum(${double(query, sql`m.num_of_lines`)}), 0) as value,
      ${double(query, sql`sum(m.num_of_lines)`)} as counted ${rows}`,
  )

export const worstFiles = (files: Population): Panel => ({
  name: 'worst-files',
  title: 'Files with most bugs',
  definition: 'The files with most bugs first; among equals, those with most code smells.',
  look: 'table',
  width: 24,
  columns: {
    file: text('File'),
    lines: lines('Lines'),
    bugs: count('Bugs'),
    vulnerabilities: count('Vulnerabilities'),
    smells: count('Code smells'),
    hotspots: count('Hotspots'),
  },
  statement: (query) => {
    const { from, where } = files(query)
    return sql`select m.file_path as file, m.num_of_lines as ${sql.ref('lines')}, m.bugs as bugs, m.vulnerabilities as vulnerabilities,
      m.code_smells as smells, m.security_hotspots as hotspots ${from} where ${where}
      order by m.bugs desc, m.code_smells desc, m.file_path limit 500`
  },
  remedy: FILES_REMEDY,
})

export const projectsByFindings = (population: Population): Panel => ({
  name: 'projects',
  title: 'Projects',
  definition: 'Open issues of each project, by type.',
  look: 'table',
  columns: {
    project: text('Project'),
    bugs: count('Bugs'),
    vulnerabilities: count('Vulnerabilities'),
    smells: count('Code smells'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select project.name as project, ${countIf(isOfType('BUG'))} as bugs, ${countIf(isOfType('VULNERABILITY'))} as vulnerabilities,
      ${countIf(isOfType('CODE_SMELL'))} as smells ${from} inner join cq_projects project on project.id = f.project_key
      where ${where} group by project.id, project.name order by bugs desc, project.name limit 500`
  },
  remedy,
})
