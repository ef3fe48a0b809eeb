/** The answer as text for a terminal. */
import { counted } from '../basics/counted.ts'
import type {
  Answer,
  HeavyItem,
  KeyAnswer,
  Measured,
  Period,
  Sentence,
  WhatToLookAt,
} from '../metrics/answer/answer.ts'
import { textOf } from '../metrics/answer/say.ts'
import type { Unit } from '../metrics/metric.ts'
import { valueInWords } from '../metrics/words/value-words.ts'
import { sparkline } from './sparkline.ts'

const WIDTH = 100
/** Items of each metric; all of them are in the JSON and on the page. */
const MOST_ITEMS = 3
const LONGEST_TITLE = 50

export function answerLines(answer: Answer): string[] {
  const { whose, range, before, projects, findings } = answer
  const name = whose.name ?? 'All projects'
  const size = whose.kind === 'project' ? '' : `, ${counted(projects, 'project')}`
  return [
    `${name}${size}: ${inDays(range)} against ${inDays(before)}`,
    '',
    ...answer.sentence.flatMap((sentence) => wrapped(textOf(sentence))),
    ...part(findings.keys, keyLines(answer.keys)),
    ...part(findings.where, stageLines(answer)),
    ...part(
      findings.look,
      answer.look.flatMap((look) => lookLines(look, answer.keys)),
    ),
    ...part(findings.sure, sureLines(answer)),
  ]
}

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }
const dayOf = (date: Date): string => date.toLocaleDateString('en-GB', DAY)
const inDays = ({ from, to }: Period): string => `${dayOf(from)} – ${dayOf(to)}`

const part = (finding: Sentence, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', ...wrapped(textOf(finding)), ...lines.map((line) => `    ${line}`.trimEnd())]

function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Columns of equal width. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '))
}

function keyLines(keys: readonly KeyAnswer[]): string[] {
  const rows = keys.map((key): string[] => [
    key.title,
    key.now.value === null ? 'no value' : key.now.inWords,
    changeWords(key),
    key.before.value === null ? '' : `was ${key.before.inWords}`,
    targetWords(key),
    key.now.likely ? `likely ${rangeWords(key.unit, key.now)}` : '',
    key.restsOn,
    key.now.counted === 0 ? '' : sparkline(key.trend.map(({ value }) => value)),
  ])
  const reasons = keys.flatMap(({ title, now }) =>
    now.value === null && now.noData ? [`${title}: no value, because ${now.noData.because}. ${now.noData.remedy}`] : [],
  )
  return [...aligned(rows), ...reasons]
}

function changeWords({ change }: KeyAnswer): string {
  if (!change) return ''
  if (change.amount === 0) return change.inWords
  return change.mayBeChance ? `${change.inWords}, may be chance` : `${change.inWords}, ${change.direction}`
}

function targetWords({ target }: KeyAnswer): string {
  if (!target) return ''
  const { inWords, state, distanceInWords } = target
  const how = { met: 'met', missed: distanceInWords ?? 'missed', unknown: 'no answer' }[state]
  return `target ${inWords}: ${how}`
}

function rangeWords(unit: Unit, { likely }: Measured): string {
  if (!likely) return ''
  const [low, high] = [valueInWords(unit, likely.low), valueInWords(unit, likely.high)]
  // Times have a unit of their own each, such as minutes and days.
  const isTime = unit === 'minutes' || unit === 'seconds'
  return low === high ? high : `${isTime ? low : low.split(' ')[0]} – ${high}`
}

function stageLines({ where }: Answer): string[] {
  if (where.stages.every(({ now }) => now === null)) return []
  const words = (minutes: number | null, share: number | null) =>
    minutes === null ? '' : `${valueInWords('minutes', minutes)}, ${valueInWords('share', roundedShare(share))}`
  const rows = where.stages.map(({ title, meaning, now, share, before, shareBefore }) => [
    title,
    words(now, share),
    before === null ? '' : `was ${words(before, shareBefore)}`,
    meaning,
  ])
  const how = `Means over the ${counted(where.restsOn, 'change')} nearest the median, scaled to it.`
  return [...aligned(rows), how]
}

const roundedShare = (share: number | null): number | null => (share === null ? null : Math.round(share * 100) / 100)

function lookLines({ metric, heaviest, of, withoutInWords }: WhatToLookAt, keys: readonly KeyAnswer[]): string[] {
  if (heaviest.length === 0) return []
  const title = keys.find((key) => key.metric === metric)?.title ?? metric
  const without = withoutInWords === null ? '' : `; without the ${heaviest.length} that weigh most ${withoutInWords}`
  const shown = heaviest.slice(0, MOST_ITEMS)
  return [
    `${title}: ${shown.length} of ${of.toLocaleString('en')}${without}`,
    ...aligned(shown.map(itemRow)).map((line) => `    ${line}`),
  ]
}

const itemRow = (item: HeavyItem): string[] => [
  item.at ? dayOf(item.at) : '',
  item.inWords,
  shortened(item.title),
  item.repository ?? '',
  item.longestStage ? `most in ${item.longestStage}` : (item.why ?? ''),
  item.url ?? '',
]

const shortened = (title: string): string =>
  title.length <= LONGEST_TITLE ? title : `${title.slice(0, LONGEST_TITLE - 1).trimEnd()}…`

function sureLines({ sure, attention }: Answer): string[] {
  const level = `Confidence: ${sure.confidence}.${sure.because === '' ? '' : ` ${sure.because}`}`
  const left = sure.counted.flatMap(({ material, leftOut }) =>
    leftOut.map(
      ({ meaning, count, remedy }) =>
        `${counted(count, material.replace(/s$/, ''))} ${count === 1 ? 'does' : 'do'} not count: ${meaning} ${remedy}`,
    ),
  )
  const collected = sure.collectedAt ? [`Collected last on ${dayOf(sure.collectedAt)}.`] : []
  const causes = attention.slice(0, MOST_ITEMS).map(({ sentence, remedy }) => `${sentence} ${remedy}`)
  return [level, ...collected, ...left, ...causes]
}
