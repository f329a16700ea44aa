// Makes the pictures of the docs: the demo, in each mode, as Chromium shows it.
// Usage: node pictures.mjs DIRECTORY [SECONDS]      SECONDS: how long the network trains before the first

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { eventually, launch } from './lib/browsers.mjs';
import { serve } from './lib/program.mjs';

const [directory = 'pictures', seconds = '45'] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
const demo = await serve('demo');
const browser = await launch('chromium');
try {
  const page = await browser.page();
  await page.goto(demo.url);
  for (const [index, mode] of ['parameters', 'gradients', 'activations'].entries()) {
    await page.raw.getByRole('radio', { name: mode, exact: false }).check({ force: true });
    await eventually(`${mode} are shown`, () =>
      page.evaluate((kind) => window.phosphene.layout()?.sections[0]?.kind === kind &&
        window.phosphene.frame() !== undefined, index + 1));
    await new Promise((resolve) => setTimeout(resolve, 1000 * (index === 0 ? Number(seconds) : 5)));
    const box = await page.evaluate(() => {
      const { x, y, width, height } = document.querySelector('canvas').getBoundingClientRect();
      return { x, y, width, height };
    });
    await page.hover(box.x + box.width * 0.36, box.y + box.height * 0.3);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await page.screenshot(join(directory, `${mode}.png`));
    console.log(`${join(directory, `${mode}.png`)}: step ${(await page.evaluate(() => window.phosphene.frame())).step}`);
  }
} finally {
  await browser.close();
  await demo.stop();
}
