// The endless mp4 in a bare <video src>, without the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { engines, eventually, launch } from '../lib/browsers.mjs';
import { serve } from '../lib/program.mjs';

for (const name of engines) {
  test(`${name} plays /live.mp4 in a bare <video src>`, { timeout: 120_000 }, async () => {
    const demo = await serve('demo', ['--steps-per-second', '10']);
    const engine = await launch(name);
    try {
      await eventually('training', async () => (await demo.json('api/runs'))[0]?.step > 0, 30);
      const page = await engine.page();
      await page.goto(`${demo.base}healthz`);
      await page.evaluate((source) => {
        const video = document.createElement('video');
        Object.assign(video, { muted: true, autoplay: true, src: source });
        document.body.append(video);
        video.play().catch(() => {});
      }, `${demo.base}live.mp4?token=${demo.token}&mode=parameters&size=640x360&fps=10`);
      const shown = await eventually('the video plays', () => page.evaluate(() => {
        const { currentTime, videoWidth, videoHeight, error } = document.querySelector('video');
        return error ? { error: error.message } : currentTime > 1 && { videoWidth, videoHeight };
      }), 40);
      assert.deepEqual(shown, { videoWidth: 640, videoHeight: 360 });
    } finally {
      await engine.close();
      await demo.stop();
    }
  });
}
