import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { defineConfig } from 'vite'

const root = import.meta.dirname
const outDir = join(root, 'dist')

/** Compresses files once, at build time, instead of at every request. */
const compressed = {
  name: 'compressed',
  closeBundle() {
    const folder = join(outDir, 'assets')
    for (const name of readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each))) {
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(readFileSync(join(folder, name))))
    }
  },
}

export default defineConfig({
  root,
  cacheDir: join(root, '../node_modules/.cache/vite'),
  plugins: [compressed],
  build: {
    outDir,
    emptyOutDir: true,
    chunkSizeWarningLimit: 2_000,
    // Browsers preload by themselves; the polyfill would be a separate file for two pages.
    modulePreload: { polyfill: false },
    // Pages may only load files from their own server, not data inside an address.
    assetsInlineLimit: 0,
    // Separates what every page needs from what few pages need: charts are larger than all the rest.
    rolldownOptions: {
      // The API reference is a separate page: other pages load nothing of it.
      input: [join(root, 'index.html'), join(root, 'reference.html')],
      // Libraries mark code that runs in browsers; here all code does.
      onLog: (level, log, print) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : print(level, log)),
      output: {
        codeSplitting: {
          groups: [
            { name: 'charts', test: /node_modules[\\/](echarts|zrender)/ },
            { name: 'frame', test: /node_modules[\\/](react|react-dom|scheduler|@mantine|@tanstack|@floating-ui)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
})
