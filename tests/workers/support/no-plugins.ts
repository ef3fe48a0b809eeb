/** What a worker of another version knows. */
export const plugins = []
