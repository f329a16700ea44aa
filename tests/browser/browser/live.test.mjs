// The picture is the newest one, again, after whatever held it up.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { engines, eventually, launch } from '../lib/browsers.mjs';
import { onPhone } from '../lib/managed.mjs';
import { serve } from '../lib/program.mjs';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs in the page: what is shown, and how old it is: since its capture, by this machine's one clock. */
const look = `() => {
  const frame = window.phosphene?.frame();
  const facts = frame && window.phosphene.facts(frame.number);
  const status = document.querySelector('[role=status]')?.textContent.trim();
  if (!facts) return { status };
  const age = performance.timeOrigin + performance.now() - Number(facts.timeUs) / 1000;
  return { status, number: frame.number, step: frame.step, lag: window.phosphene.lag(), age };
}`;

/** Live: a second long the picture moves, is less than a second behind, and shows what was captured just now. */
async function isLive(page) {
  let before = await page.evaluate(look);
  for (let i = 0; i < 4; ++i) {
    await pause(250);
    const now = await page.evaluate(look);
    if (!(now.status === 'live' && now.lag < 1 && now.age < 2000 && now.number > before.number)) return false;
    before = now;
  }
  return before;
}

const becomesLive = (page, when, seconds = 30) => eventually(`live ${when}`, () => isLive(page), seconds);

/** No lag that stays: half of the looks within two seconds find less than a third of one. */
const staysClose = (page) => eventually('close', async () => {
  const lags = [];
  for (let i = 0; i < 21; ++i) {
    lags.push((await page.evaluate(look)).lag);
    await pause(100);
  }
  return lags.sort((a, b) => a - b)[10] < 0.33;
});

/** Counts in the page what an attentive person would see: seeks, and how long a picture stood still. A page that
 *  had no processor saw nothing: that time counts as a tenth of a second. */
const watch = `() => {
  const video = document.querySelector('video');
  const seen = (window.seen = { awake: 0, seeks: 0, longest: 0 });
  video.addEventListener('seeking', () => ++seen.seeks);
  let last = performance.now(), stuck = 0, number;
  const each = () => {
    const frame = window.phosphene.frame(), now = performance.now(), tick = Math.min(now - last, 100);
    seen.awake += tick;
    stuck = frame?.number === number ? stuck + tick : 0;
    seen.longest = Math.max(seen.longest, stuck);
    number = frame?.number;
    last = now;
    requestAnimationFrame(each);
  };
  each();
}`;

/** One seek after each standstill, and one a second while a busy machine makes more of them; not one after the other. */
async function seeksRarely(page, standstills) {
  const { seeks, awake } = await page.evaluate(() => window.seen);
  assert.ok(seeks <= 3 + standstills + awake / 1000, `${seeks} seeks in ${awake} ms`);
}

const view = 'mode=parameters&quality=exact&size=640x480&fps=30';

async function withDemo(engine, body) {
  const demo = await serve('demo', ['--steps-per-second', '30']);
  const page = await engine.page();
  try {
    await page.goto(`${demo.url}&${view}`);
    await becomesLive(page, 'at first', 60);
    await body(page, demo);
  } finally {
    await page.close();
    await demo.stop();
  }
}

for (const name of engines) {
  describe(name, () => {
    let engine;
    before(async () => (engine = await launch(name)), { timeout: 90_000 });
    after(() => engine?.close());

    test('another viewer comes and goes: the picture never freezes', { timeout: 120_000 }, async () => {
      await withDemo(engine, async (page, demo) => {
        await page.evaluate(watch);
        await pause(1000);
        // A keyframe for the newcomer moves those that come by themselves: ten seconds later there is none.
        const stranger = new AbortController();
        const { status } = await demo.get(`live.mp4?${view}`, { signal: stranger.signal });
        assert.equal(status, 200);
        await pause(1000);
        stranger.abort();
        await pause(14_000);
        const { longest } = await page.evaluate(() => window.seen);
        assert.ok(longest < 3000, `no new picture for ${longest} ms`); // the next keyframe may be ten seconds away
        assert.ok(await becomesLive(page, 'still'));
      });
    });

    test('the server stands still for three seconds', { timeout: 120_000 }, async () => {
      await withDemo(engine, async (page, demo) => {
        demo.child.kill('SIGSTOP');
        await pause(3000);
        demo.child.kill('SIGCONT');
        await becomesLive(page, 'after the standstill');
        await pause(7000);
        await staysClose(page);
      });
    });
  });
}

describe('chromium alone', () => {
  let engine;
  before(async () => (engine = await launch('chromium')), { timeout: 90_000 });
  after(() => engine?.close());

  const renderers = async () => {
    const session = await engine.raw.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    await session.detach();
    return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  };
  const signal = async (pids, name) => pids.forEach((pid) => process.kill(pid, name));

  test('the machine slept: the browser stood still for twenty seconds', { timeout: 120_000 }, async () => {
    await withDemo(engine, async (page) => {
      await page.evaluate(watch);
      const pids = await renderers();
      await signal(pids, 'SIGSTOP');
      await pause(20_000);
      await signal(pids, 'SIGCONT');
      await becomesLive(page, 'after the sleep', 15); // a clock that ran on takes as long as the sleep was
      await staysClose(page);
      await seeksRarely(page, 1);
    });
  });

  test('case_28: a stopped server does not look live, and is found again', { timeout: 120_000 }, async () => {
    await withDemo(engine, async (page, demo) => {
      const status = () => page.evaluate(() => document.querySelector('[role=status]').textContent.trim());
      demo.child.kill('SIGSTOP');
      await eventually('it is said', async () => (await status()) === 'no answer', 30);
      await pause(10_000); // long enough for the page to begin anew
      assert.equal(await status(), 'no answer');
      demo.child.kill('SIGCONT');
      await becomesLive(page, 'after the standstill');
    });
  });

  test('hardly any processor time for a while', { timeout: 120_000 }, async () => {
    await withDemo(engine, async (page) => {
      await page.evaluate(watch);
      const pids = await renderers();
      for (let i = 0; i < 10; ++i) {
        await signal(pids, 'SIGSTOP');
        await pause(970);
        await signal(pids, 'SIGCONT');
        await pause(30);
      }
      await becomesLive(page, 'after hunger');
      await staysClose(page);
      await seeksRarely(page, 10);
    });
  });

  test('case_38: a hidden tab gets nothing, and is live when it is seen again', { timeout: 120_000 }, async () => {
    await withDemo(engine, async (page, demo) => {
      const session = await page.raw.context().newCDPSession(page.raw);
      const hide = async (hidden) => {
        // Headless tabs are never hidden by another one in front.
        await page.evaluate((value) => {
          Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
          Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (value ? 'hidden' : 'visible') });
          document.dispatchEvent(new Event('visibilitychange'));
        }, hidden);
        await session.send('Page.setWebLifecycleState', { state: hidden ? 'frozen' : 'active' });
      };
      await hide(true);
      await eventually('nothing is encoded', async () => (await demo.json('api/channels')).length === 0, 15);
      await pause(5000);
      await hide(false);
      await becomesLive(page, 'when it is seen again');
    });
  });

  test('a ManagedMediaSource that wants nothing gets nothing, and the newest when it does', { timeout: 120_000 }, async () => {
    await withDemo(onPhone(engine), async (page, demo) => {
      const end = () => page.evaluate(() => [window.managed.early, document.querySelector('video').buffered.end(0)]);
      await page.evaluate(() => window.managed.want(false));
      await eventually('nothing is encoded', async () => (await demo.json('api/channels')).length === 0, 15);
      const before = await end();
      await pause(3000);
      assert.deepEqual(await end(), before);
      assert.equal(before[0], 0, 'appended without being wanted');
      await page.evaluate(() => window.managed.want(true));
      await becomesLive(page, 'when it is wanted again');
      await staysClose(page);
    });
  });
});
