// From the capture in the training thread to the picture in Chromium: 1000×1000, exact, 30 frames/s.
//
// Each frame carries the time of its capture. The page says when the canvas that bears the frame's number was painted;
// both clocks are this machine's. Usage: node latency.mjs [--json] [--seconds N]

import { readFile } from 'node:fs/promises';

import { eventually, launch } from '../lib/browsers.mjs';
import { serve } from '../lib/program.mjs';

const json = process.argv.includes('--json');
const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1] || 20) || 20;

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
const stat = async (pid) => {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

const demo = await serve('demo', ['--steps-per-second', '30']);
const browser = await launch('chromium');
try {
  const page = await browser.page();
  await page.goto(`${demo.url}&mode=parameters&quality=exact&size=1000x1000&fps=30`);
  await eventually('a picture', () => page.evaluate(() => window.phosphene?.frame()?.number > 30), 40);
  const metrics = async () => (await (await demo.get('metrics')).text());
  const count = (text, name) => Number(text.match(new RegExp(`^${name} (\\d+)`, 'm'))[1]);
  const before = await metrics();
  const cpu = await stat(demo.child.pid);
  const samples = await page.evaluate((length) => new Promise((resolve) => {
    const times = [];
    let last = window.phosphene.frame().number;
    const end = performance.now() + length * 1000;
    const look = () => {
      const frame = window.phosphene.frame();
      if (frame && frame.number !== last) {
        last = frame.number;
        const shown = performance.timeOrigin + performance.now();
        times.push(shown - Number(window.phosphene.facts(frame.number).timeUs) / 1000);
      }
      if (performance.now() < end) requestAnimationFrame(look);
      else resolve(times);
    };
    requestAnimationFrame(look);
  }), seconds);
  const after = await metrics();
  samples.sort((a, b) => a - b);
  const encoded = count(after, 'phosphene_frames_encoded_total') - count(before, 'phosphene_frames_encoded_total');
  const bytes = count(after, 'phosphene_encoded_bytes_total') - count(before, 'phosphene_encoded_bytes_total');
  const hook = count(after, 'phosphene_hook_bytes_total') - count(before, 'phosphene_hook_bytes_total');
  const frames = count(after, 'phosphene_frames_received_total') - count(before, 'phosphene_frames_received_total');
  const results = [
    { name: 'capture to presented, Chromium, 1000x1000, p50', value: quantile(samples, 0.5), unit: 'ms', limit: 120 },
    { name: 'capture to presented, Chromium, 1000x1000, p95', value: quantile(samples, 0.95), unit: 'ms', limit: 200 },
    { name: 'frames presented', value: samples.length / seconds, unit: 'frames/s', limit: null },
    { name: "exact video of the demo's weights at 30 frames/s", value: (bytes / encoded) * 30 / 1e6, unit: 'MB/s', limit: 2.5 },
    { name: "wire, the demo's weights at 30 frames/s", value: (hook / frames) * 30 / 1e6, unit: 'MB/s', limit: 15 },
    { name: 'demo and server together', value: (await stat(demo.child.pid) - cpu) / seconds, unit: 'cores', limit: null },
  ].map((result) => ({ ...result, holds: result.limit === null ? null : result.value <= result.limit }));
  if (json) console.log(JSON.stringify(results));
  else console.table(results);
} finally {
  await browser.close();
  await demo.stop();
}
