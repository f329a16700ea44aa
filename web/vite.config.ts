import { defineConfig } from 'vitest/config';

// Every URL is relative: the page may be served below any path.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 300,
    reportCompressedSize: false,
  },
  server: { fs: { allow: ['..'] } }, // golden vectors are beside proto/
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000 },
});
