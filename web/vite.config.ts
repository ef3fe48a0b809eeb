import { join } from 'node:path'
import { defineConfig } from 'vite'

const root = import.meta.dirname

export default defineConfig({
  root,
  cacheDir: join(root, '../node_modules/.cache/vite'),
  build: {
    outDir: join(root, 'dist'),
    emptyOutDir: true,
    // What every page needs, apart from what few do: charts are larger than all the rest.
    rolldownOptions: {
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
