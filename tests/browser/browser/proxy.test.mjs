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

  test('case_36: 4 Mbit/s behind a deep queue: the page shows the present, and says how far behind it is', { timeout: 120_000 }, async () => {
    const front = await proxy(demo.base, '/slow/', { strip: true, rate: 500_000 });
    const page = await engine.page();
    try {
      // Some 3 MB/s of exact log gradients, of which a sixth fits.
      await page.goto(`${front.url}?token=${demo.token}&mode=gradients&size=1000x1000&fps=10`);
      await eventually('a picture', () => page.evaluate(() => window.phosphene?.frame()?.number), 60);
      const ages = [];
      const end = performance.now() + 20_000;
      for (let last = 0; performance.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
        const seen = await page.evaluate(() => {
          const frame = window.phosphene.frame();
          return frame && { number: frame.number, age: performance.timeOrigin + performance.now() - Number(window.phosphene.facts(frame.number).timeUs) / 1000 };
        });
        if (seen && seen.number !== last) ages.push(seen.age);
        last = seen?.number ?? last;
      }
      ages.sort((a, b) => a - b);
      const worst = ages.at(Math.floor(0.9 * ages.length));
      assert.ok(ages.length >= 5, `it moves: ${ages.length} frames in 20 s`);
      // 8 MB of queue are 16 s; unacknowledged, the page would be that far behind.
      assert.ok(worst < 8000, `nine in ten frames are younger than ${Math.round(worst)} ms when they are shown`);
      await eventually('it is said', () => page.evaluate(() => / s behind/.test(document.querySelector('[role=status]').textContent)), 20);
    } finally {
      await page.close();
      await front.stop();
    }
  });
});
