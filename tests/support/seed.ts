import fc from 'fast-check'

/** Generated tests are the same in every run, so that a red one is the change's fault; another seed searches elsewhere. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FAST_CHECK_SEED ?? 20261115) })
