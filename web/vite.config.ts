import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { defineConfig } from 'vite'

const root = import.meta.dirname
const outDir = join(root, 'dist')

/** Once, here, instead of at every request. */
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
    // Browsers preload by themselves; for two pages it would be a file of its own.
    modulePreload: { polyfill: false },
    // The pages may load files of their own server, and nothing written into an address.
    assetsInlineLimit: 0,
    // What every page needs, apart from what few do: charts are larger than all the rest.
    rolldownOptions: {
      // The reference of the API is a page of its own: nothing of it is loaded on other pages.
      input: [join(root, 'index.html'), join(root, 'reference.html')],
      // Libraries mark what runs in browsers; here everything does.
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
