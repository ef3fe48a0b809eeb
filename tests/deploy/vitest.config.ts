import { checksIn } from '../support/extra-config.ts'

export default checksIn('deploy')
