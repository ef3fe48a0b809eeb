/** Longer than any answer takes. Even three calls are shorter than the lease of the process that waits for them. */
export const CALL_MS = 15_000
