/** One option for every command that writes a file. */
export const FORCE = ['--force', 'replace what is there'] as const
