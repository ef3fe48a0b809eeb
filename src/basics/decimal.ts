/** Whole numbers in decimal digits, as all ids must be written. No plus sign, no exponent, no other base. */
const DIGITS = /^-?\d{1,16}$/

/** Returns undefined when the value is not a whole number. */
export function wholeOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined
}

/** The same for ids, which must not have a sign. */
export function decimalOf(value: unknown): number | undefined {
  const isSigned = typeof value === 'string' && value.startsWith('-')
  const number = isSigned ? undefined : wholeOf(value)
  return number === undefined || number < 0 || Object.is(number, -0) ? undefined : number
}
