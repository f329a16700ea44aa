// `phosphene pipe` and the endless mp4, read back with ffmpeg: an independent demuxer and decoder.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from '../lib/browsers.mjs';
import { level, levels4 } from '../lib/patterns.mjs';
import { binary, root, serve, start } from '../lib/program.mjs';

/** Decodes `frames` frames of a URL to luma bytes. */
async function decode(url, frames) {
  const ffmpeg = spawn('ffmpeg', ['-loglevel', 'error', '-i', url, '-frames:v', String(frames), '-vsync', 'passthrough',
    '-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks = [];
  ffmpeg.stdout.on('data', (bytes) => chunks.push(bytes));
  const [code] = await once(ffmpeg, 'close');
  assert.equal(code, 0);
  return Buffer.concat(chunks);
}

const live = (server, query) => `${server.base}live.mp4?token=${server.token}&${query}`;
const levelOf = (luma) => Math.round(((luma - 16) * 15) / 219) + 0; // never −0

test('levels4 come out of /live.mp4 exactly, the number in the margin, repeated while nothing new comes', { timeout: 60_000 }, async () => {
  const [width, height] = [160, 126];
  const pipe = await serve('pipe', ['--format', 'levels4', '--size', `${width}x${height}`, '--fps', '20', '--name', 'noise'], { stdin: 'pipe' });
  try {
    pipe.child.stdin.end(levels4(width, height, 0));
    await eventually('the frame is in', async () => (await pipe.json('api/runs'))[0]?.tensors.length);
    const yuv = await decode(live(pipe, 'quality=exact&size=160x128&fps=20'), 12); // without a mode: what there is
    const frame = 160 * 128 * 1.5;
    assert.equal(yuv.length, 12 * frame);
    const last = yuv.subarray(11 * frame);
    for (let y = 0; y < height; ++y)
      for (let x = 0; x < width; ++x) assert.equal(levelOf(last[y * 160 + x]), level(x, y, 0), `pixel ${x},${y}`);
    let number = 0;
    for (let cell = 0; cell < 32; ++cell) {
      const values = [[0, 0], [1, 0], [0, 1], [1, 1]].map(([dx, dy]) => last[(126 + dy) * 160 + 2 * cell + dx] > 125);
      assert.ok(values.every((value) => value === values[0]), `cell ${cell} is of one colour`);
      number = number * 2 + Number(values[0]);
    }
    assert.ok(number >= 1, `number ${number}`);
  } finally {
    await pipe.stop();
  }
});

test('gray8: level = value / 16; float32 with --range', { timeout: 60_000 }, async () => {
  for (const [format, bytes, args] of [
    ['gray8', Buffer.from(Array.from({ length: 256 * 16 }, (_, i) => i % 256)), []],
    ['float32', Buffer.from(new Float32Array(Array.from({ length: 256 * 16 }, (_, i) => -1 + (i % 256) / 128)).buffer), ['--range', '-1,1']],
  ]) {
    const pipe = await serve('pipe', ['--format', format, '--size', '256x16', ...args], { stdin: 'pipe' });
    try {
      pipe.child.stdin.end(bytes);
      await eventually('the frame is in', async () => (await pipe.json('api/runs'))[0]?.tensors.length);
      const yuv = await decode(live(pipe, 'mode=frames&size=256x32'), 20);
      const last = yuv.subarray(19 * 256 * 32 * 1.5);
      const row = 16; // within the frame, which is centred
      for (let x = 0; x < 256; ++x) assert.equal(levelOf(last[row * 256 + x]), x >> 4, `${format} ${x}`);
    } finally {
      await pipe.stop();
    }
  }
});

test('/live.mp4 is an mp4 that ffprobe accepts, with a steady clock', { timeout: 60_000 }, async () => {
  const demo = await serve('demo', []);
  try {
    await eventually('training', async () => (await demo.json('api/runs'))[0]?.step > 0, 30);
    const probe = spawn('ffprobe', ['-v', 'error', '-read_intervals', '%+#40', '-show_entries',
      'stream=codec_name,width,height,pix_fmt,color_range,color_space:packet=pts_time,duration_time,flags', '-of', 'json',
      live(demo, 'mode=gradients&size=640x360&fps=20')], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    probe.stdout.on('data', (bytes) => (text += bytes));
    assert.equal((await once(probe, 'close'))[0], 0);
    const { streams: [stream], packets } = JSON.parse(text);
    assert.deepEqual(stream, { codec_name: 'h264', width: 640, height: 360, pix_fmt: 'yuv420p', color_range: 'tv', color_space: 'bt709' });
    assert.equal(packets.length, 40);
    assert.match(packets[0].flags, /K/, 'a viewer begins at a keyframe');
    packets.forEach((packet, i) => assert.ok(Math.abs(packet.pts_time - packets[0].pts_time - i / 20) < 0.002, `frame ${i} at ${packet.pts_time}`));
  } finally {
    await demo.stop();
  }
});

test('a viewer gets what it asks for: a bad view is named, unknown runs are waited for', { timeout: 60_000 }, async () => {
  const server = await serve();
  try {
    for (const [query, words] of [['mode=tea', ['mode', 'tea']], ['size=9x9', ['size', '9x9']], ['fps=fast', ['fps', 'fast']],
      ['quality=best', ['quality', 'best']], ['size=5000x5000', ['size', '5000']]]) {
      const answer = await server.get(`live.mp4?${query}`);
      assert.equal(answer.status, 400, query);
      const text = await answer.text();
      for (const word of words) assert.ok(text.includes(word), `${query}: ${text}`);
    }
  } finally {
    await server.stop();
  }
});

test('an input that ends within a frame is said; one that ends at a frame is not', { timeout: 60_000 }, async () => {
  const server = await serve();
  try {
    for (const [extra, code] of [[0, 0], [100, 1]]) {
      const pipe = start(binary, ['pipe', '--size', '32x32', '--to', server.address], { stdin: 'pipe' });
      pipe.stdin.end(Buffer.alloc(2 * 32 * 32 + extra, 7));
      assert.equal((await pipe.exited).code, code, pipe.log);
      assert.equal(/within frame 2: 100 of 1024 bytes/.test(pipe.log), extra > 0, pipe.log);
    }
  } finally {
    await server.stop();
  }
});

test('SIGINT ends a pipe whose input goes on', { timeout: 30_000 }, async () => {
  const pipe = await serve('pipe', ['--size', '32x32'], { stdin: 'pipe' });
  pipe.child.stdin.write(Buffer.alloc(32 * 32));
  await eventually('a run', async () => (await pipe.json('api/runs'))[0]);
  assert.deepEqual(await pipe.stop('SIGINT'), { code: 0, signal: null });
});

test('messages: how many came, and whether the sentinel did', { timeout: 60_000 }, async () => {
  const hex = await readFile(join(root, 'proto/golden/stream.from_hook.hex'), 'utf8');
  const whole = Buffer.from(hex.replace(/\s/g, ''), 'hex');
  const { length } = JSON.parse(await readFile(join(root, 'proto/golden/stream.from_hook.json'), 'utf8'));
  for (const [input, words, code] of [
    [whole, `ended in order after ${length} messages, \\d+ of them frames`, 0],
    [whole.subarray(0, -1), `broke off after ${length} messages, .*: .*without the closing sentinel`, 1],
    [whole.subarray(0, -2), `broke off after ${length - 1} messages, .*: .*in the middle of a message`, 1],
    [Buffer.from('tea'), 'broke off after 0 messages', 1],
    [Buffer.alloc(0), 'broke off after 0 messages', 1],
  ]) {
    const pipe = await serve('pipe', ['--format', 'messages'], { stdin: 'pipe' });
    pipe.child.stdin.end(input);
    await eventually(words, () => new RegExp(words).test(pipe.child.log), 10);
    assert.equal((await pipe.stop()).code, code, pipe.child.log);
  }
});
