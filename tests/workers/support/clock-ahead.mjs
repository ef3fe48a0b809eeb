/** Loaded with `--import`: the clock of the process is five minutes ahead. */
const AHEAD_MS = 5 * 60_000
const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...parameters) {
    if (parameters.length === 0) super(RealDate.now() + AHEAD_MS)
    else super(...parameters)
  }
  static now() {
    return RealDate.now() + AHEAD_MS
  }
}
