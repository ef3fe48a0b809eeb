/** Names that nobody gives to production. */
export const isPlainlyElsewhere = (name: string): boolean =>
  /(^|[^a-z])(stag|test|dev|qa|uat|preview|review|sandbox)/i.test(name)
