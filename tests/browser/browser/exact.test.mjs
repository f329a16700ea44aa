// `exact` proven: known levels through the real server into three real engines, every pixel read back.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { engines, eventually, launch } from '../lib/browsers.mjs';
import { level, levels4, mark, marked } from '../lib/patterns.mjs';
import { serve } from '../lib/program.mjs';

const frames = 12;
const fps = 4; // slow enough for software decoders that share two cores with two encoders

/** Runs in the page: compares the canvas with what was sent; nothing while no frame of the run is there. */
const compare = `(levelSource, markSource, width, height, canvasWidth, canvasHeight, nan, inf) => {
  const level = eval('(' + levelSource + ')'), mark = markSource && eval('(' + markSource + ')');
  const frame = window.phosphene?.frame();
  if (!frame || frame.width !== canvasWidth || frame.height !== canvasHeight) return null;
  const levels = window.phosphene.levels();
  const section = window.phosphene.layout().sections[0].rect;
  let wrong = 0, read = 0, marks = 0, first = null;
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const got = levels[(section.y + y) * canvasWidth + section.x + x];
      const special = mark?.(x, y, frame.step);
      const want = special ? (special === 'nan' ? nan : inf) : level(x, y, frame.step);
      ++read;
      if (special) ++marks;
      if (got !== want && ++wrong === 1) first = { x, y, got, want, special };
    }
  let outside = 0;
  for (let y = 0; y < canvasHeight - 2; ++y)
    for (let x = 0; x < canvasWidth; ++x)
      if ((x < section.x || x >= section.x + width || y < section.y || y >= section.y + height) &&
          levels[y * canvasWidth + x] !== 0) ++outside;
  return { step: frame.step, number: frame.number, wrong, read, marks, outside, first };
}`;

async function watchPipe(engine, { format, make, size: [width, height], canvas, args = [], markSource = null }) {
  const pipe = await serve('pipe', ['--format', format, '--size', `${width}x${height}`, '--fps', String(fps), ...args],
    { stdin: 'pipe' });
  pipe.child.stdin.on('error', () => {});
  const page = await engine.page();
  try {
    const [canvasWidth, canvasHeight] = canvas;
    await page.goto(`${pipe.url}&mode=frames&quality=exact&size=${canvasWidth}x${canvasHeight}`);
    // The first frame waits for the viewer: repeats of it prove that repeating changes nothing.
    for (let step = 0; step < frames; ++step) pipe.child.stdin.write(make(width, height, step));
    const seen = new Map();
    const look = async () => {
      const result = await page.evaluate(compare, String(level), markSource, width, height, canvasWidth, canvasHeight, 3, 15);
      if (result) {
        assert.equal(result.read, width * height);
        assert.equal(result.wrong, 0, `step ${result.step}: ${result.wrong} of ${result.read} levels differ, first ${JSON.stringify(result.first)}`);
        assert.equal(result.outside, 0, `step ${result.step}: ${result.outside} pixels outside the frame are not dark`);
        if (markSource) assert.ok(result.marks > 0);
        seen.set(result.step, result.read);
      }
      return result;
    };
    let failure;
    await eventually('the last frame is shown', async () => {
      if (failure) return true;
      try {
        const result = await look();
        if (result?.step >= 2) pipe.child.stdin.end();
        return result?.step === frames - 1;
      } catch (error) {
        if (error instanceof assert.AssertionError) failure = error;
        throw error;
      }
    }, 60);
    if (failure) throw failure;
    assert.ok(seen.size >= 3, `only steps ${[...seen.keys()]} were seen`);
    return seen;
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

    test('case_46: an odd size, centred on a larger canvas', async () => {
      await watchPipe(engine, { format: 'levels4', make: levels4, size: [201, 133], canvas: [400, 300] });
    });

    test('case_01: NaN and infinities on single pixels spoil no level beside them', async () => {
      await watchPipe(engine, {
        format: 'float32', make: marked, size: [200, 120], canvas: [240, 160], args: ['--range', '0,16'],
        markSource: String(mark),
      });
    });
  });
}
