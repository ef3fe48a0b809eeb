/** Writes dist/src, the server of the package. Dependencies stay outside: npm installs them beside it, and repairs them there. */
import { dirname, join } from 'node:path'
import { bundle } from './bundle.ts'

const folder = join(dirname(import.meta.dirname), 'dist/src')
await bundle({ programs: ['src/main.ts'], folder, isStayingHere: false })
