/** Writing rows, for plugins that are not made of entities. */
export { createWriter, retrying, update, write } from '../database/write.ts'
