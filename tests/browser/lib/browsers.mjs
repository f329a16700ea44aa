// Three real engines behind one small face: goto, evaluate, click, screenshot, close.

import { AssertionError } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const engines = ['chromium', 'firefox', 'webkit'];
const launchMs = 80_000;
export const viewport = { width: 1440, height: 900 };

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function chromium() {
  const { chromium: launcher } = await import('playwright-core');
  const browser = await launcher.launch({
    executablePath: '/usr/bin/chromium',
    timeout: launchMs,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync',
    ],
  });
  return {
    async page() {
      const context = await browser.newContext({ viewport });
      const page = await context.newPage();
      return {
        goto: (url) => page.goto(url),
        evaluate: (body, ...args) => page.evaluate(({ source, values }) => new Function('return (' + source + ')')()(...values),
          { source: String(body), values: args }),
        click: (selector) => page.click(selector),
        hover: (x, y) => page.mouse.move(x, y),
        press: (key) => page.keyboard.press(key),
        resize: (width, height) => page.setViewportSize({ width, height }),
        screenshot: (path) => page.screenshot({ path }),
        close: () => context.close(),
        raw: page,
      };
    },
    raw: browser,
    close: () => browser.close(),
  };
}

async function firefox() {
  const puppeteer = (await import('puppeteer-core')).default;
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    timeout: launchMs,
    headless: true,
    extraPrefsFirefox: { 'media.autoplay.default': 0 },
  });
  return {
    async page() {
      const page = await browser.newPage();
      await page.setViewport(viewport);
      return {
        goto: (url) => page.goto(url),
        evaluate: (body, ...args) => page.evaluate((source, values) => new Function('return (' + source + ')')()(...values),
          String(body), args),
        click: (selector) => page.click(selector),
        hover: (x, y) => page.mouse.move(x, y),
        press: (key) => page.keyboard.press(key),
        resize: (width, height) => page.setViewport({ width, height }),
        screenshot: (path) => page.screenshot({ path }),
        close: () => page.close(),
        raw: page,
      };
    },
    close: () => browser.close(),
  };
}

// WebKitGTK draws to a display only: a virtual one, chosen by the X server itself.
async function display() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const [number] = await once(server.stdio[3], 'data');
  return { name: `:${String(number).trim()}`, close: () => server.kill() };
}

async function webkit() {
  const { Builder, Capabilities } = await import('selenium-webdriver');
  const screen = await display();
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), 'phosphene-webkit-'));
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
    env: { ...process.env, DISPLAY: screen.name, HOME: home, GDK_BACKEND: 'x11', WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
    stdio: 'ignore',
  });
  const binary = ['4.1', '4.0', '6.0'].map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`)
    .find((path) => existsSync(path));
  const capabilities = new Capabilities({
    browserName: 'MiniBrowser',
    'webkitgtk:browserOptions': { binary, args: ['--automation'] },
  });
  let session;
  for (const end = Date.now() + launchMs; !session;) {
    try {
      session = await new Builder().usingServer(`http://127.0.0.1:${port}`).withCapabilities(capabilities).build();
    } catch (error) {
      if (Date.now() > end) {
        driver.kill();
        screen.close();
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
  await session.manage().window().setRect({ x: 0, y: 0, ...viewport });
  return {
    async page() {
      return {
        goto: (url) => session.get(url),
        evaluate: (body, ...args) => session.executeAsyncScript(
          `const values = Array.from(arguments).slice(0, -1), done = arguments[arguments.length - 1];
           Promise.resolve().then(() => (${body})(...values)).then((value) => done({ value }), (error) => done({ error: String(error) }));`,
          ...args).then((result) => {
          if (result.error) throw new Error(result.error);
          return result.value;
        }),
        click: async (selector) => (await session.findElement({ css: selector })).click(),
        hover: (x, y) => session.actions().move({ x: Math.round(x), y: Math.round(y) }).perform(),
        press: (key) => session.actions().sendKeys({ Tab: '\uE004', ArrowLeft: '\uE012', ArrowRight: '\uE014' }[key]).perform(),
        resize: (width, height) => session.manage().window().setRect({ x: 0, y: 0, width, height }),
        screenshot: async (path) => writeFile(path, await session.takeScreenshot(), 'base64'),
        close: async () => session.get('about:blank'),
        raw: session,
      };
    },
    async close() {
      await session.quit().catch(() => {});
      driver.kill();
      screen.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Starts an engine by name: 'chromium', 'firefox' or 'webkit'. */
export function launch(engine) {
  return { chromium, firefox, webkit }[engine]();
}

/** Waits until `probe` gives something truthy, and returns it; fails with `what` after `seconds`, and at once where an
 *  assertion in the probe does. */
export async function eventually(what, probe, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s (last: ${last instanceof Error ? last.message : JSON.stringify(last)})`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
