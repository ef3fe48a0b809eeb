/** Recognises names that nobody gives to a production environment. */
export const isPlainlyElsewhere = (name: string): boolean =>
  /(^|[^a-z])(stag|test|dev|qa|uat|preview|review|sandbox)/i.test(name)
