/** Longer than any answer takes; also asked three times, shorter than the lease of whoever waits for it. */
export const CALL_MS = 15_000
