/** Reads the cookies of an answer by name, and turns cookies back into a header. */
export const cookiesOf = ({ headers }: { headers: Record<string, any> }): Record<string, string> =>
  Object.fromEntries(
    [headers['set-cookie'] ?? []].flat().map((line: string) => {
      const [pair = ''] = line.split(';')
      return pair.split(/=(.*)/s).slice(0, 2) as [string, string]
    }),
  )
export const cookieHeader = (cookies: Record<string, string>) =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ')
