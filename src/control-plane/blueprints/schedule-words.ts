/** Describes a schedule in words, for people who do not read cron. */
import { byName } from '../../basics/by-name.ts'
import { checkSchedule, nextTick } from './cron.ts'

const WORDS = byName<string>({
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
})
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const SHORT_DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
const two = (value: number) => String(value).padStart(2, '0')
const ordinal = (value: number) => {
  const ending = value % 100 > 10 && value % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${ending}`
}

/** The values in a cron field that is a list; undefined for any other syntax, or when there are too many values for a sentence. */
function listOf(field: string, names: readonly string[] = []): number[] | undefined {
  const values = field.split(',').map((part) => {
    const name = names.indexOf(part.toLowerCase())
    return name >= 0 ? name : /^\d{1,2}$/.test(part) ? Number(part) : Number.NaN
  })
  return values.length > 6 || values.some(Number.isNaN) ? undefined : values
}

function timeOf(minute: string, hour: string): string | undefined {
  const every = /^\*\/(\d{1,2})$/
  if (hour === '*') {
    if (minute === '*') return 'every minute'
    const step = every.exec(minute)?.[1]
    if (step) return step === '1' ? 'every minute' : `every ${step} minutes`
    const minutes = listOf(minute)
    if (minutes?.length === 1 && minutes[0] === 0) return 'every hour'
    return minutes && `every hour at minute ${joined(minutes.map(String))}`
  }
  const minutes = listOf(minute)
  const step = every.exec(hour)?.[1]
  if (step && minutes?.length === 1) {
    return minutes[0] === 0 ? `every ${step} hours` : `every ${step} hours, ${minutes[0]} minutes past`
  }
  const hours = listOf(hour)
  if (!minutes || !hours || minutes.length * hours.length > 6) return undefined
  return `at ${joined(hours.flatMap((each) => minutes.map((past) => `${two(each)}:${two(past)}`)))}`
}

function daysOf(day: string, month: string, weekday: string): string | undefined {
  const months = month === '*' ? [] : listOf(month)?.map((each) => MONTHS[each - 1] ?? '')
  if (!months || (day !== '*' && weekday !== '*')) return undefined
  const within = months.length === 0 ? '' : ` in ${joined(months)}`
  if (weekday !== '*') {
    if (/^(1-5|mon-fri)$/i.test(weekday)) return `from Monday to Friday${within}`
    const days = listOf(weekday, SHORT_DAYS)?.map((each) => DAYS[each] ?? '')
    return days && `every ${joined(days)}${within}`
  }
  if (day === '*') return `every day${within}`
  const days = listOf(day)?.map(ordinal)
  return days && `on the ${joined(days)} of ${months.length === 0 ? 'every month' : joined(months)}`
}

/** Returns a sentence such as `Every day at 02:30 UTC.` For a schedule too complicated for a sentence it says so. */
function scheduleWords(schedule: string): string {
  const trimmed = schedule.trim()
  if (trimmed.startsWith('@every')) return `Every ${trimmed.slice('@every'.length).trim()}, counted from the last run.`
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = (
    WORDS[trimmed.toLowerCase()] ?? trimmed
  ).split(/\s+/)
  const time = rest.length === 0 ? timeOf(minute, hour) : undefined
  const days = daysOf(day, month, weekday)
  if (!time || !days) return 'At the moments below, by its own rule.'
  const isOften = time.startsWith('every')
  const words = isOften ? (days === 'every day' ? time : `${time}, ${days}`) : `${days} ${time} UTC`
  return `${words[0]?.toUpperCase()}${words.slice(1)}.`
}

interface ScheduleOutlook {
  readonly sentence: string
  readonly runs: readonly Date[]
}

/** Describes a schedule and lists its next runs. Throws when the text is not a schedule. */
export function lookAtSchedule(schedule: string, count: number, now = new Date()): ScheduleOutlook {
  checkSchedule(schedule)
  const runs: Date[] = []
  for (let next = nextTick(schedule, now); next && runs.length < count; next = nextTick(schedule, next)) runs.push(next)
  return { sentence: scheduleWords(schedule), runs }
}
