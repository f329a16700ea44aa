// The page against the real server, with a network that trains: what it asks for, and what it lives through.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { engines, eventually, launch } from '../lib/browsers.mjs';
import { root, serve, start } from '../lib/program.mjs';

const choose = (label) => `() => {
  const group = [...document.querySelectorAll('[role=radiogroup], fieldset')].find((g) =>
    (g.getAttribute('aria-label') ?? g.querySelector('legend')?.textContent ?? '').trim() === 'Mode');
  const radio = [...group.querySelectorAll('input[type=radio], [role=radio]')].find((r) =>
    (r.getAttribute('aria-label') ?? r.closest('label')?.textContent ?? r.labels?.[0]?.textContent ?? r.textContent).trim() === '${label}');
  radio.click();
  return true;
}`;
const status = (page) => page.evaluate(() => document.querySelector('[role=status]').textContent.trim());
const shows = (page, kind) => page.evaluate((wanted) => {
  const layout = window.phosphene?.layout();
  return layout?.sections[0]?.kind === wanted && window.phosphene.frame() ? window.phosphene.frame().step + 1 : 0;
}, kind);
const modes = async (server) => (await server.json('api/channels')).map(({ view }) => new URLSearchParams(view).get('mode'));
const received = async (server) => Number((await (await server.get('metrics')).text()).match(/^phosphene_frames_received_total (\d+)/m)[1]);
const quiet = async (server) => {
  const before = await received(server);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return (await received(server)) === before;
};

for (const name of engines) {
  describe(name, () => {
    let engine;
    before(async () => (engine = await launch(name)), { timeout: 90_000 });
    after(() => engine?.close());

    test('the mode selector changes what the hook sends, and closing the last page stops it', { timeout: 120_000 }, async () => {
      const demo = await serve('demo', ['--steps-per-second', '10']);
      let page;
      try {
        await eventually('training has begun', async () => (await demo.json('api/runs'))[0]?.step > 2, 30);
        assert.ok(await quiet(demo), 'nobody watches, nothing is sent');
        page = await engine.page();
        await page.goto(`${demo.url}&fps=10&size=960x640`);
        await eventually('parameters', () => shows(page, 1), 30);
        assert.equal(await page.evaluate(() => document.querySelectorAll('video').length), 1);
        await eventually('live', async () => (await status(page)) === 'live');
        for (const [label, kind] of [['Gradients', 2], ['Activations', 3], ['Parameters', 1]]) {
          await page.evaluate(choose(label));
          const first = await eventually(label, () => shows(page, kind), 30);
          await eventually(`${label} move`, async () => (await shows(page, kind)) > first, 20);
          await eventually(`only ${label} are encoded`, async () => String(await modes(demo)) === label.toLowerCase(), 10);
        }
        await page.evaluate(choose('Off'));
        await eventually('off is said', async () => /off/i.test(await status(page)), 10);
        await eventually('off ends the channel', async () => (await modes(demo)).length === 0, 10);
        await eventually('off: nothing is sent', () => quiet(demo));
        await page.evaluate(choose('Gradients'));
        await eventually('gradients again', () => shows(page, 2), 30);
        await page.close();
        page = undefined;
        await eventually('the last page is gone', async () => (await modes(demo)).length === 0, 15);
        await eventually('nothing is sent any more', () => quiet(demo), 10);
      } finally {
        await page?.close();
        assert.equal((await demo.stop()).code, 0);
      }
    });

    test('the mode is chosen by keys alone, and seen to be', { timeout: 120_000 }, async () => {
      const demo = await serve('demo', ['--steps-per-second', '10']);
      const page = await engine.page();
      const focused = () => page.evaluate(() => {
        const { activeElement: at } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(at?.nextElementSibling ?? document.body);
        return { name: at?.name, value: at?.value, ring: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 };
      });
      try {
        await page.goto(`${demo.url}&fps=10&size=640x480`);
        await eventually('parameters', () => shows(page, 1), 30);
        await page.evaluate(() => document.querySelector('phosphene-run select').focus());
        await page.press('Tab');
        assert.deepEqual(await focused(), { name: 'mode', value: 'parameters', ring: true });
        await page.press('ArrowRight');
        await eventually('gradients', () => shows(page, 2), 30);
        assert.equal((await focused()).value, 'gradients'); // WebKit draws no ring there; what is chosen is seen anyway
        await page.press('ArrowLeft');
        await page.press('ArrowLeft');
        await eventually('off is said', async () => (await status(page)) === 'off', 10);
        await page.press('Tab'); // one stop for the whole group
        assert.notEqual((await focused()).name, 'mode');
        const video = await page.evaluate(() => {
          const { defaultMuted, playsInline } = document.querySelector('video'); // WebKitGTK forgets `muted` where there is no sound
          return { defaultMuted, playsInline: playsInline ?? true };
        });
        assert.deepEqual(video, { defaultMuted: true, playsInline: true }, 'or browsers want a click, or the whole screen');
      } finally {
        await page.close();
        await demo.stop();
      }
    });

    test('from a mode to off and back at once: the picture is not lost', { timeout: 120_000 }, async () => {
      const demo = await serve('demo', ['--steps-per-second', '10']);
      const page = await engine.page();
      try {
        await page.goto(`${demo.url}&fps=10&size=640x480`);
        await eventually('parameters', () => shows(page, 1), 30);
        // Within the 150 ms that the server waits between two changes, off is never taken up.
        for (const patience of [30, 60, 90]) {
          await page.evaluate(choose('Gradients'));
          await eventually('gradients', () => shows(page, 2), 30);
          await page.evaluate(choose('Parameters'));
          await new Promise((resolve) => setTimeout(resolve, patience));
          await page.evaluate(choose('Off'));
          await page.evaluate(choose('Parameters'));
          const first = await eventually('parameters again', () => shows(page, 1), 15);
          await eventually('and they move', async () => (await shows(page, 1)) > first, 15);
          await eventually('live', async () => (await status(page)) === 'live');
        }
      } finally {
        await page.close();
        await demo.stop();
      }
    });

    test('case_28: the server is killed and started again: training goes on, the page recovers by itself', { timeout: 120_000 }, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'phosphene-kill-'));
      const ingest = `unix:${join(directory, 'ingest.sock')}`;
      const env = { XDG_RUNTIME_DIR: directory };
      let server = await serve('serve', [], { ingest, env });
      const trainer = start(join(root, 'build/examples/train_cpp'), [], { env: { PHOSPHENE_ADDRESS: ingest } });
      const page = await engine.page();
      try {
        await page.goto(`${server.url}&fps=10&size=640x480`);
        const before = await eventually('the example is shown', () => shows(page, 1), 30);
        const { listen } = server;
        await server.child.stop('SIGKILL');
        await eventually('the page says so', async () => /reconnect/i.test(await status(page)), 20);
        assert.equal(trainer.exitCode, null, 'training goes on');
        server = await serve('serve', [], { ingest, listen, env });
        const later = await eventually('the page is back', async () => {
          const step = await shows(page, 1);
          return /live/i.test(await status(page)) && step > before && step;
        }, 30);
        await eventually('and moves', async () => (await shows(page, 1)) > later, 20);
        assert.equal(trainer.exitCode, null);
      } finally {
        await page.close();
        await trainer.stop('SIGKILL');
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });

    test('case_32: a page that is open before any run says so, then shows it; its crash is said', { timeout: 120_000 }, async () => {
      const server = await serve();
      const page = await engine.page();
      let trainer;
      try {
        await page.goto(`${server.url}&fps=10&size=640x480`);
        await eventually('no run yet', async () => /waiting/i.test(await status(page)), 15);
        trainer = start(join(root, 'build/examples/train_cpp'), [], { env: { PHOSPHENE_ADDRESS: server.address } });
        await eventually('the run is shown', () => shows(page, 1), 30);
        await trainer.stop('SIGKILL');
        await eventually('the crash is said', async () => /crash/i.test(await status(page)), 15);
        assert.equal((await server.json('api/runs'))[0].state, 'crashed');
      } finally {
        await page.close();
        await trainer?.stop('SIGKILL');
        await server.stop();
      }
    });
  });
}
