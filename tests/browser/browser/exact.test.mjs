// `exact` proven: known levels through the real server into three real engines, every pixel read back.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { engines, eventually, launch } from '../lib/browsers.mjs';
import { onPhone } from '../lib/managed.mjs';
import { level, levels4, mark, marked } from '../lib/patterns.mjs';
import { serve } from '../lib/program.mjs';

const frames = 8;
const fps = 4; // slow enough for software decoders that share two cores with two encoders

/** Runs in the page: the frame on the canvas, whole; nothing while there is none. */
const read = `() => {
  const frame = window.phosphene?.frame(), section = window.phosphene?.layout()?.sections[0]?.rect;
  if (!frame || !section) return null;
  let text = '';
  for (const level of window.phosphene.levels()) text += level.toString(16);
  return { ...frame, x: section.x, y: section.y, levels: text };
}`;

/** Compares what a page shows with what was sent: every level, and darkness around the frame. */
function compare(shown, width, height, markOf) {
  let marks = 0;
  const at = (x, y) => parseInt(shown.levels[y * shown.width + x], 16);
  for (let y = 0; y < shown.height - 2; ++y)
    for (let x = 0; x < shown.width; ++x) {
      const [column, row] = [x - shown.x, y - shown.y];
      const inside = column >= 0 && column < width && row >= 0 && row < height;
      const special = inside ? markOf?.(column, row, shown.step) : undefined;
      if (special) ++marks;
      const want = !inside ? 0 : special === 'nan' ? 3 : special ? 15 : level(column, row, shown.step);
      if (at(x, y) !== want) assert.fail(`step ${shown.step}, pixel ${x},${y}: level ${at(x, y)}, not ${want}${special ? ` (${special})` : ''}`);
    }
  if (markOf) assert.ok(marks > 0);
}

async function watchPipe(engine, { format, make, size: [width, height], canvas, args = [], markOf }) {
  const pipe = await serve('pipe', ['--format', format, '--size', `${width}x${height}`, '--fps', String(fps), ...args],
    { stdin: 'pipe' });
  pipe.child.stdin.on('error', () => {});
  const page = await engine.page();
  try {
    const [canvasWidth, canvasHeight] = canvas;
    await page.goto(`${pipe.url}&mode=frames&quality=exact&size=${canvasWidth}x${canvasHeight}`);
    // Each frame comes when the one before was seen, and is repeated until then: repeating changes nothing.
    for (let step = 0; step < frames; ++step) {
      pipe.child.stdin.write(make(width, height, step));
      await eventually(`step ${step} is shown`, async () => {
        const shown = await page.evaluate(read);
        if (shown?.width !== canvasWidth || shown.height !== canvasHeight) return false;
        compare(shown, width, height, markOf);
        return shown.step === step;
      }, 60);
    }
  } finally {
    await page.close();
    await pipe.stop();
  }
}

for (const name of engines) {
  describe(name, () => {
    let engine;
    before(async () => (engine = await launch(name)), { timeout: 90_000 });
    after(() => engine?.close());

    test('noise of 16 levels, the canvas as large as the frame but for the margin', async () => {
      await watchPipe(engine, { format: 'levels4', make: levels4, size: [320, 238], canvas: [320, 240] });
    });

    if (name === 'chromium') {
      test('where there is a ManagedMediaSource alone', async () => {
        await watchPipe(onPhone(engine), { format: 'levels4', make: levels4, size: [320, 238], canvas: [320, 240] });
      });
    }

    test('case_46: an odd size, centred on a larger canvas', async () => {
      await watchPipe(engine, { format: 'levels4', make: levels4, size: [201, 133], canvas: [400, 300] });
    });

    test('case_01: NaN and infinities on single pixels spoil no level beside them', async () => {
      await watchPipe(engine, {
        format: 'float32', make: marked, size: [200, 120], canvas: [240, 160], args: ['--range', '0,16'],
        markOf: mark,
      });
    });
  });
}
