/** What one list may cost when the source refuses it: that list, and neither the others nor what comes after them. */
import { inputsOf, type Round } from './collect-inputs.ts'
import { collectRound } from './collect-round.ts'
import { type Collecting, gapList } from './collect-series.ts'
import { forgetCheckpoint, forgetTags } from './collect-state.ts'
import { isAskedAgain, type StoredGap, settleGaps } from './gaps.ts'
import { HttpMisleadingError, isOfRequest } from './http/index.ts'
import { requireScope } from './scope-check.ts'

/** So many lists in vain and none that came: the others would fare alike. */
const ENOUGH = 10

const THE_LIST = { kind: 'list', key: '', input: null } as const

/** The lists to ask for, as long as asking makes sense. */
export async function* roundsOf(collecting: Collecting): AsyncGenerator<Round> {
  const rounds = inputsOf(collecting)
  for (;;) {
    try {
      const { value, done } = await rounds.next()
      if (done || collecting.tally.isLost) return
      yield value
    } catch (error) {
      // Finding out what there is to ask for takes requests too.
      await lose(collecting, THE_LIST, error)
      return
    }
  }
}

/** Collects a list. A failure that is about this list alone becomes a gap; any other is thrown. */
export async function ask(collecting: Collecting, round: Round, signal: AbortSignal): Promise<void> {
  try {
    await collectRound(collecting, round, signal)
    collecting.tally.answered.add(gapList(round))
  } catch (error) {
    if (signal.aborted) throw error
    await lose(collecting, round, error)
  }
}

/** What a collector asks for besides its lists; it is asked for again by the next run. */
export async function askBesides(collecting: Collecting, key: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (collecting.task.signal.aborted) throw error
    await lose(collecting, { kind: 'refetch', key, input: null }, error)
  }
}

type Lost = Pick<Round, 'kind' | 'key' | 'input' | 'since' | 'group'>

async function lose(collecting: Collecting, round: Lost, error: unknown): Promise<void> {
  if (!isOfRequest(error)) throw error
  const { task, client, spec, raw, run, tally } = collecting
  await requireScope(task, client, error.status)
  const isOnly = gapList(round) === ''
  // What came from there may be wrong, and a checkpoint would lead past what is missing.
  if (error instanceof HttpMisleadingError) {
    await forgetCheckpoint(task.database, { raw_table: raw.name, params: task.params }, run, round.key)
  }
  tally.gaps.push({
    ...{ list: gapList(round), kind: 'lost', address: error.address, status: error.status ?? null },
    ...{ reason: error.message, missing: null, since: round.since ?? run.since },
    input: spec.forEach && round.kind === 'list' ? round.input : null,
  })
  tally.refused.add(round.group)
  const lost = tally.gaps.filter(({ kind }) => kind === 'lost').length
  tally.isLost ||= isOnly || (round.kind !== 'refetch' && lost >= ENOUGH && tally.answered.size === 0)
}

/** Brings the stored gaps up to date, and has asked for again without tags what the next run is to ask for. */
export async function settle({ place, task, raw, run, tally, spec }: Collecting): Promise<readonly StoredGap[]> {
  const { database, params } = task
  const { answered, isLost, gaps } = tally
  const isAnswered = ({ list, kind, since, input }: StoredGap): boolean => {
    if (isLost || run.isFull) return !isLost
    if (list === '') return spec.forEach !== undefined || run.since === null || (since !== null && run.since <= since)
    // What was not final is asked for again as long as it is not.
    return (kind === 'lost' && input === null) || answered.has(list)
  }
  // Where all were lost alike, the first stands for them.
  const found = isLost && spec.forEach ? gaps.slice(0, 1).map((gap) => ({ ...gap, list: '', input: null })) : gaps
  const where = { raw_table: raw.name, params }
  const left = await settleGaps(
    database,
    { plugin: place.plugin, subtask: place.subtask, ...where },
    { found, isAnswered },
  )
  await forgetTags(
    database,
    where,
    left.filter(isAskedAgain).map(({ list }) => list),
  )
  return left
}
