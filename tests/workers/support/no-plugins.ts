/** The plugins of a worker of another version: none. */
export const plugins = []
