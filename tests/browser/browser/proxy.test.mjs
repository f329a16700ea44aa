// The page behind a reverse proxy, at a path of its own.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually, launch } from '../lib/browsers.mjs';
import { serve } from '../lib/program.mjs';
import { proxy } from '../lib/proxy.mjs';

describe('case_37: behind a reverse proxy', () => {
  let engine, demo;
  before(async () => {
    engine = await launch('chromium');
    demo = await serve('demo', ['--steps-per-second', '10']);
  }, { timeout: 90_000 });
  after(async () => {
    await engine?.close();
    await demo?.stop();
  });

  for (const strip of [true, false]) {
    for (const slash of ['/', '']) {
      test(`the path is ${strip ? 'taken off' : 'left on'}, ${slash ? 'with' : 'without'} its trailing slash`, { timeout: 60_000 }, async () => {
        const front = await proxy(demo.base, '/lab/phosphene', { strip });
        const page = await engine.page();
        try {
          await page.goto(`${front.url}${slash}?token=${demo.token}&mode=parameters&size=640x360&fps=10`);
          const first = await eventually('a picture', () => page.evaluate(() => window.phosphene?.frame()?.number), 30);
          await eventually('it moves', () => page.evaluate((n) => window.phosphene.frame().number > n, first), 20);
          const where = await page.evaluate(() => location.href);
          assert.ok(where.startsWith(`${front.url}/`), `the page stays below the proxy's path: ${where}`);
          assert.ok(!where.includes('token='), 'the token leaves the address');
        } finally {
          await page.close();
          await front.stop();
        }
      });
    }
  }
});
