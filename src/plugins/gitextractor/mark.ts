/** The raw table that marks rows of this plugin, together with the repository's id. */
export const MARK = 'gitextractor'
