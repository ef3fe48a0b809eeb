/** The fake's time: real time, unless a test moves it. Limits, token expiry, response dates and changes all read it. */
export interface Clock {
  now(): number
  set(time: Date | string | number): void
  advance(milliseconds: number): void
}

export function movableClock(): Clock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    set: (time) => {
      offset = new Date(time).getTime() - Date.now()
    },
    advance: (milliseconds) => {
      offset += milliseconds
    },
  }
}
