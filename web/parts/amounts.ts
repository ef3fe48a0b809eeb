/** Amounts whose last digits do not matter. */
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export function bytes(amount: number): string {
  const step = amount < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(amount) / Math.log(1024)))
  return `${one.format(amount / 1024 ** step)} ${UNITS[step]}`
}

/** For example `12.4 k`. */
export function short(amount: number): string {
  if (amount < 10_000) return one.format(amount)
  return amount < 1_000_000 ? `${one.format(amount / 1000)} k` : `${one.format(amount / 1_000_000)} M`
}
