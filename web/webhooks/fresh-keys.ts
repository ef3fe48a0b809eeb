/** Keys that the server has just shown, by connection: nothing shows them again, so they stay until the page is left. */
const keys = new Map<number, string>()

export const keepKey = (connectionId: number, key: string | undefined): void => {
  if (key) keys.set(connectionId, key)
}
export const freshKey = (connectionId: number): string | undefined => keys.get(connectionId)
