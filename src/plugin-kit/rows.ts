/** Writing rows, for plugins that are not made of entities. */
export { among, inPieces, onePiece, type Piece, readByKeys } from '../database/pieces.ts'
export { rowShape } from '../database/rows.ts'
export { createWriter, retrying, update, write } from '../database/write.ts'
