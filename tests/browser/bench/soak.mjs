// Memory of a server with one 1000×1000 channel and 200 viewers, over ten minutes.
// Usage: node soak.mjs [--json] [--minutes N]

import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

import { eventually } from '../lib/browsers.mjs';
import { binary, serve, start } from '../lib/program.mjs';

const json = process.argv.includes('--json');
const minutes = Number(process.argv[process.argv.indexOf('--minutes') + 1] || 10) || 10;
const viewers = 200;

const resident = async (pid) => Number((await readFile(`/proc/${pid}/status`, 'utf8')).match(/VmRSS:\s+(\d+)/)[1]) / 1024;

const server = await serve();
// A process of its own sends the frames: what is measured is the server alone.
const source = spawn('ffmpeg', ['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1000x998:rate=30', '-pix_fmt', 'gray',
  '-f', 'rawvideo', '-'], { stdio: ['ignore', 'pipe', 'ignore'] });
const pipe = start(binary, ['pipe', '--format', 'gray8', '--size', '1000x998', '--fps', '30', '--to', server.address], { stdin: source.stdout });
const port = Number(server.listen.split(':').pop());
const sockets = [];
try {
  await eventually('a run', async () => (await server.json('api/runs'))[0]?.step > 0, 30);
  for (let i = 0; i < viewers; ++i) {
    const socket = connect(port, '127.0.0.1', () => socket.write(
      `GET /live.mp4?mode=frames&quality=exact&size=1000x1000&fps=30 HTTP/1.1\r\nHost: ${server.listen}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`));
    socket.on('data', () => {});
    socket.on('error', () => {});
    sockets.push(socket);
  }
  await eventually('all are let in', async () => (await server.json('api/channels'))[0]?.viewers === viewers, 60);
  const samples = [];
  for (let second = 0; second < minutes * 60; second += 10) {
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    samples.push(await resident(server.child.pid));
    if (!json) console.log(`${second + 10} s: ${samples.at(-1).toFixed(1)} MB`);
  }
  const settled = samples.slice(Math.floor(samples.length / 5));
  const half = Math.floor(settled.length / 2);
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const results = [
    { name: 'server memory, 200 viewers of 1000x1000', value: Math.max(...samples), unit: 'MB', limit: 200 },
    { name: 'its growth, second half over first', value: mean(settled.slice(half)) / mean(settled.slice(0, half)), unit: 'ratio', limit: 1.05 },
  ].map((result) => ({ ...result, holds: result.value <= result.limit }));
  if (json) console.log(JSON.stringify(results));
  else console.table(results);
} finally {
  sockets.forEach((socket) => socket.destroy());
  source.kill('SIGKILL');
  await pipe.stop('SIGKILL');
  await server.stop();
}
