/** Reads each clause of a sentence back, and checks it against the numbers that it speaks of. */
import type { Answer, KeyAnswer, Stage, StageAnswer } from '../../src/metrics/answer/answer.ts'
import type { Parts } from './generated-answers.ts'

const METRICS = new Map([
  ['lead time', 'change-lead-time'],
  ['deployment frequency', 'deployment-frequency'],
  ['recovery time', 'failed-deployment-recovery-time'],
  ['change failure rate', 'change-failure-rate'],
  ['rework rate', 'rework-rate'],
])
const DOING = new Map<string, Stage>([
  ['coding', 'coding'],
  ['waiting for a first review', 'pickup'],
  ['review', 'review'],
  ['waiting to be deployed', 'deploy'],
])
const SPENT = new Map<string, Stage>([
  ['spent most time in coding', 'coding'],
  ['waited for a first review', 'pickup'],
  ['spent most time in review', 'review'],
  ['waited for a deployment', 'deploy'],
])
const NUMBERS = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]
const PARTS = new Map([
  ['a quarter', 0.25],
  ['a third', 1 / 3],
  ['half', 0.5],
  ['two thirds', 2 / 3],
  ['three quarters', 0.75],
])

const name = `(${[...METRICS.keys()].join('|')})`
const stage = '(coding|pickup|review|deploy)'
const amount =
  '(less than [\\d.]+ [a-z]+(?: per week)?|−?[\\d,.]+ (?:d(?: \\d+ h)?|h(?: \\d+ min)?|min|s|%|points?|days? per week|deployments? in \\d+ weeks?))'
const number = `([a-z]+|[\\d,]+)`
const because = '(.+)'

const numberOf = (word: string): number =>
  NUMBERS.includes(word) ? NUMBERS.indexOf(word) : Number(word.replaceAll(',', ''))

interface Amount {
  readonly low: number
  readonly high: number
}
const around = (value: number, slack: number): Amount => ({ low: value - slack, high: value + slack })
const EDGE = 1e-9

/** The numbers that may be written like this, in the unit of the metric; undefined for a number of deployments. */
function amountOf(text: string): Amount | undefined {
  const less = /^less than (?:([\d.]+) (.+))$/.exec(text)
  if (less) {
    const limit = amountOf(`${less[1]} ${less[2]}`)
    return limit && { low: 0, high: limit.low + (limit.high - limit.low) / 2 }
  }
  if (/deployments? in/.test(text)) return undefined
  const [, days = '0', hours = '0', mins = '0', secs = '0'] =
    /^(?:(\d+) d ?)?(?:(\d+) h ?)?(?:(\d+) min)?(?:(\d+) s)?$/.exec(text) ?? []
  if (/ (d|h|min|s)$/.test(text)) {
    const whole = Number(days) * 1440 + Number(hours) * 60 + Number(mins) + Number(secs) / 60
    return around(whole, / s$/.test(text) ? 0.5 / 60 : Number(days) > 0 ? 30.5 : 0.5)
  }
  const value = Number.parseFloat(text.replaceAll(',', ''))
  if (/%|point/.test(text)) return around(value / 100, 0.0005)
  return around(value, 0.005)
}

const holds = (text: string, value: number): boolean => {
  const range = amountOf(text)
  return range !== undefined && value >= range.low - EDGE && value <= range.high + EDGE
}
const holdsShare = (text: string, share: number): boolean =>
  PARTS.has(text)
    ? Math.abs(share - (PARTS.get(text) ?? 0)) <= 0.02 + EDGE
    : Math.abs(Number.parseFloat(text) / 100 - share) <= 0.005 + EDGE
/** The value is written as a text of its own only where the median week has no deployment. */
const isValue = (text: string, { value, inWords }: KeyAnswer['now']): boolean =>
  value !== null && (holds(text, value) || (value === 0 && text === inWords))

type Rule = readonly [pattern: RegExp, isTrue: (found: readonly string[], parts: Parts) => boolean]
const clause = (text: string) => new RegExp(`^${text}$`)
const keyOf = ({ keys }: Pick<Answer, 'keys'>, metric: string) => keys.find((each) => each.metric === metric)
const named = (parts: Parts, word: string): KeyAnswer => keyOf(parts, METRICS.get(word) ?? '') as KeyAnswer
const lead = (parts: Parts): KeyAnswer => named(parts, 'lead time')
const isReal = ({ change }: KeyAnswer): boolean => change !== null && !change.mayBeChance && change.direction !== 'none'
const sign = (word: string) => (['rose', 'more'].includes(word) ? 1 : -1)
/** The median of two weeks may be the same while the number of deployments is not. */
const changed = (key: KeyAnswer, word: string) => {
  const amount = key.change?.amount || key.now.counted - key.before.counted
  const isBetter = amount > 0 === (key.better === 'higher')
  const said = isBetter ? 'better' : 'worse'
  return isReal(key) && Math.sign(amount) === sign(word) && key.change?.direction === said
}
const why = (text: string, key: KeyAnswer) => key.now.value === null && key.now.noData?.because === text
const of = (parts: Parts, wanted: Stage | undefined) =>
  parts.where.stages.find((each) => each.stage === wanted) as StageAnswer
const isLargest = (parts: Parts, { share }: StageAnswer) =>
  share !== null && parts.where.stages.every((each) => (each.share ?? 0) <= share)
const real = (parts: Parts, direction: string) =>
  parts.keys.filter((key) => isReal(key) && key.change?.direction === direction).length

const SENTENCE: readonly Rule[] = [
  [
    clause(`${name} (rose|fell) by ${amount} to ${amount}`),
    ([word = '', verb = '', by = '', to = ''], parts) => {
      const key = named(parts, word)
      return changed(key, verb) && holds(by, Math.abs(key.change?.amount ?? 0)) && isValue(to, key.now)
    },
  ],
  [
    clause(`${name} (rose|fell) from ${amount} to ${amount}`),
    ([word = '', verb = '', from = '', to = ''], parts) => {
      const key = named(parts, word)
      return changed(key, verb) && isValue(from, key.before) && isValue(to, key.now)
    },
  ],
  [
    clause(`${name} is ${amount} against ${amount} before: the difference may be chance`),
    ([word = '', now = '', before = ''], parts) => {
      const key = named(parts, word)
      return key.change?.mayBeChance === true && isValue(now, key.now) && isValue(before, key.before)
    },
  ],
  [
    clause(`${name} is ${amount}, about as before: the difference may be chance`),
    ([word = '', now = ''], parts) => {
      const { change, now: own, before } = named(parts, word)
      return (
        change?.mayBeChance === true && isValue(now, own) && Math.abs(change.amount) <= Math.abs(before.value ?? 0) / 4
      )
    },
  ],
  [
    clause(`${name} is ${amount}, as before`),
    ([word = '', now = ''], parts) => named(parts, word).change?.amount === 0 && isValue(now, named(parts, word).now),
  ],
  [
    clause(`${name} is ${amount}`),
    ([word = '', now = ''], parts) => named(parts, word).change === null && isValue(now, named(parts, word).now),
  ],
  [
    clause(
      `([\\d,]+) of ([\\d,]+) deployments? (led to an incident|repaired an earlier one), ${amount} (more|less) than before`,
    ),
    ([some = '', all = '', did = '', by = '', more = ''], parts) => {
      const key = keyOf(parts, did === 'led to an incident' ? 'change-failure-rate' : 'rework-rate') as KeyAnswer
      const { value, counted } = key.now
      const isPart = numberOf(all) === counted && Math.abs(numberOf(some) / counted - (value ?? -1)) < EDGE
      return (
        key.against === numberOf(some) && isPart && changed(key, more) && holds(by, Math.abs(key.change?.amount ?? 0))
      )
    },
  ],
  [clause(`there is no ${name}: ${because}`), ([word = '', text = ''], parts) => why(text, named(parts, word))],
  [
    clause(`there is nothing to say yet: ${because}`),
    ([text = ''], parts) => parts.keys.every(({ now }) => now.value === null) && why(text, parts.keys[0] as KeyAnswer),
  ],
  [
    clause(`(most of it|its largest part), (\\d+ %), is (.+)`),
    ([part = '', share = '', doing = ''], parts) => {
      const own = of(parts, DOING.get(doing))
      const isMost = (own?.share ?? 0) > 0.5
      return isLargest(parts, own) && holdsShare(share, own.share ?? 0) && isMost === (part === 'most of it')
    },
  ],
  [
    clause('there is nothing before to compare with'),
    (_, parts) => parts.keys.some(({ change, now }) => !change && now.value !== null),
  ],
  [
    clause('nothing (else )?changed by more than chance'),
    ([other], parts) => parts.keys.every((key) => !isReal(key) || (other !== undefined && key === lead(parts))),
  ],
  [
    clause(`${number} more keys? got worse`),
    ([count = ''], parts) =>
      numberOf(count) ===
      parts.keys.filter((key) => isReal(key) && key.change?.direction === 'worse' && key !== lead(parts)).length - 2,
  ],
]

const KEYS: readonly Rule[] = [
  [
    clause(`no key has a value: ${because}`),
    ([text = ''], parts) => parts.keys.every(({ now }) => now.value === null) && why(text, parts.keys[0] as KeyAnswer),
  ],
  [
    clause(`the target of ${name} (is met|is missed|cannot be judged)`),
    ([word = '', says = ''], parts) => {
      const state = { 'is met': 'met', 'is missed': 'missed', 'cannot be judged': 'unknown' }[says]
      return targets(parts).length === 1 && named(parts, word).target?.state === state
    },
  ],
  [
    clause(`(?:(both)|all ${number}|${number} of ${number}) targets (?:is|are) met`),
    ([both, every, some = '', all = ''], parts) => {
      const met = targets(parts).filter(({ target }) => target?.state === 'met').length
      const whole = both ? 2 : numberOf(every ?? all)
      const count = all === '' ? whole : ['none', 'neither'].includes(some) ? 0 : numberOf(some)
      return whole === targets(parts).length && count === met
    },
  ],
  [
    clause(`${number} cannot be judged`),
    ([count = ''], parts) =>
      numberOf(count) === targets(parts).filter(({ target }) => target?.state === 'unknown').length,
  ],
  [clause('no target is set'), (_, parts) => targets(parts).length === 0],
  [clause('there is nothing before to compare with'), (_, { keys }) => keys.every(({ change }) => !change)],
  [clause('no key changed by more than chance'), (_, parts) => real(parts, 'worse') + real(parts, 'better') === 0],
  [
    clause(`(?:${number} keys? got worse)?(?:, )?(?:${number}(?: keys?)? got better)?`),
    ([worse = 'no', better = 'no'], parts) =>
      numberOf(worse) === real(parts, 'worse') && numberOf(better) === real(parts, 'better'),
  ],
]
const targets = ({ keys }: Parts) => keys.filter(({ target }) => target !== null)

const WHERE: readonly Rule[] = [
  [
    clause(`${stage} takes (.+?) of the time(?:, ${amount} (more|less) than before)?`),
    ([word = '', part = '', by, more = ''], parts) => {
      const own = of(parts, word as Stage)
      const isCompared =
        by === undefined ||
        (isReal(lead(parts)) && Math.sign(own.change ?? 0) === sign(more) && holds(by, Math.abs(own.change ?? 0)))
      return isLargest(parts, own) && holdsShare(part, own.share ?? 0) && isCompared
    },
  ],
  [
    clause(`(it|${stage.slice(1, -1)}) explains (\\d+ %) of the change`),
    ([who = '', part = ''], parts) => {
      const largest = parts.where.stages.find((each) => isLargest(parts, each))
      const own = who === 'it' ? largest : of(parts, who as Stage)
      return isReal(lead(parts)) && own !== undefined && own.explains !== null && holdsShare(part, own.explains)
    },
  ],
  [
    clause(`nothing tells where the time goes: ${because}`),
    ([text = ''], { where }) =>
      where.stages.every(({ share }) => share === null) &&
      text === (where.noData?.because ?? 'the time of no stage is known'),
  ],
]

const toldOf = ({ look }: Parts) => look.find(({ heaviest }) => heaviest.length > 0)
const LOOK: readonly Rule[] = [
  [clause('there is nothing to look at yet'), (_, parts) => toldOf(parts) === undefined],
  [
    clause(`there (?:is|are) ${number} (?:change|incident)s?`),
    ([count = ''], parts) =>
      toldOf(parts)?.of === numberOf(count) && toldOf(parts)?.heaviest.length === numberOf(count),
  ],
  [
    clause(`${number} (?:change|incident)s? holds? (\\d+ %) of all the hours`),
    ([count = '', share = ''], parts) =>
      toldOf(parts)?.heaviest.length === numberOf(count) && holdsShare(share, toldOf(parts)?.share ?? -1),
  ],
  [
    clause(`${number} of ${number} (?:change|incident)s? weighs? most`),
    ([count = '', all = ''], parts) =>
      toldOf(parts)?.heaviest.length === numberOf(count) && toldOf(parts)?.of === numberOf(all),
  ],
  [
    clause(`(?:all )?${number}(?: of them)? (spent .+|waited .+)`),
    ([count = '', did = ''], parts) => {
      const longest = toldOf(parts)?.heaviest.map(({ longestStage }) => longestStage) ?? []
      const times = (wanted: unknown) => longest.filter((each) => each === wanted).length
      const own = times(SPENT.get(did))
      return own === numberOf(count) && longest.every((each) => each === null || times(each) <= own)
    },
  ],
  [
    clause(`without (?:it|them), (lead time|recovery time) would be ${amount}`),
    ([word = '', value = ''], parts) =>
      toldOf(parts)?.metric === METRICS.get(word) && holds(value, toldOf(parts)?.without ?? -1),
  ],
]

const SURE: readonly Rule[] = [
  [clause('nothing was collected that could count'), (_, { sure }) => sure.counted.every(({ total }) => total === 0)],
  [
    clause('([\\d,]+) of ([\\d,]+) (pull request|deployment|incident)s? counts?'),
    ([some = '', all = '', material = ''], { sure }) => {
      const own = sure.counted.find(({ total }) => total > 0)
      return own?.material === `${material}s` && own.counted === numberOf(some) && own.total === numberOf(all)
    },
  ],
  [clause(`${number} parts? (?:is|are) missing`), ([count = ''], { sure }) => sure.gaps.length === numberOf(count)],
]

export const GRAMMARS = { sentence: SENTENCE, keys: KEYS, where: WHERE, look: LOOK, sure: SURE } as const

/** The clauses of a sentence that no rule reads, or that are not true. */
export function wrongClauses(text: string, rules: readonly Rule[], parts: Parts): string[] {
  return text
    .replace(/\.$/, '')
    .split('; ')
    .map((each) => each.charAt(0).toLowerCase() + each.slice(1))
    .filter((each) => {
      const found = rules.flatMap(([pattern, isTrue]) => {
        const match = pattern.exec(each)
        return match ? [isTrue(match.slice(1), parts)] : []
      })
      return found.length !== 1 || found[0] !== true
    })
}
