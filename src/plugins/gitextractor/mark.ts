/** What marks the rows of this plugin, beside the repository's id. */
export const MARK = 'gitextractor'
