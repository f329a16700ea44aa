// What the program does when the machine gives it less than it wants.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import { eventually } from '../lib/browsers.mjs';
import { binary, serve, start } from '../lib/program.mjs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));
/** Seconds of CPU that a process has used. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
const limitFiles = (pid, files) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:${files}`]);
const limited = (files) => ['prlimit', `--nofile=${files}:${files}`];
const count = (text, words) => text.split(words).length - 1;
const metric = (text, name) => Number(text.match(new RegExp(`^phosphene_${name} (\\d+)$`, 'm'))[1]);

/** Opens connections that say nothing. */
function crowd(number, where) {
  return Array.from({ length: number }, () => connect(where).on('error', () => {}));
}

test('few open files: viewers and hooks have a share each, and it is said', { timeout: 60_000 }, async () => {
  const server = await serve('serve', [], { under: limited(64) });
  const hooks = crowd(100, { path: server.address.replace('unix:', '') });
  const viewers = crowd(100, { host: '127.0.0.1', port: new URL(server.base).port });
  try {
    await eventually('it is said', () => /room for 24 viewers and 4 training processes/.test(server.child.log));
    // Whoever has asked for nothing makes room for whoever asks.
    await eventually('it answers in a crowd', async () => (await fetch(new URL('healthz', server.base)).catch(() => ({}))).status === 200);
    assert.equal(metric(await (await server.get('metrics')).text(), 'accept_pauses_total'), 0);
  } finally {
    for (const socket of [...hooks, ...viewers]) socket.destroy();
    assert.equal((await server.stop()).code, 0);
  }
});

test('too few open files are named', async () => {
  const [command, ...args] = [...limited(40), binary, 'serve', '--listen', '127.0.0.1:0', '--ingest', 'tcp:127.0.0.1:0'];
  const child = start(command, args);
  assert.equal((await child.exited).code, 1);
  assert.match(child.log, /only 40 files open.*ulimit -n/);
});

test('out of open files: connections wait without burning a core, and are let in afterwards', { timeout: 60_000 }, async () => {
  const server = await serve();
  const port = new URL(server.base).port;
  const { pid } = server.child;
  let viewers = [];
  try {
    limitFiles(pid, 24);
    viewers = crowd(60, { host: '127.0.0.1', port });
    await eventually('it says so', () => /New connections wait/.test(server.child.log));
    const before = cpuSeconds(pid);
    await sleep(3000);
    const used = cpuSeconds(pid) - before;
    assert.ok(used < 0.5, `${used} s of CPU in 3 s`);
    assert.equal(count(server.child.log, 'New connections wait'), 1, server.child.log);
    for (const socket of viewers) socket.destroy();
    await eventually('it is well again', async () => (await fetch(new URL('healthz', server.base), { signal: AbortSignal.timeout(1000) })).status === 200, 15);
    assert.ok(metric(await (await server.get('metrics')).text(), 'accept_pauses_total') > 3);
  } finally {
    for (const socket of viewers) socket.destroy();
    assert.equal((await server.stop()).code, 0);
  }
});

test('a server that ends by itself says why and fails, whatever goes on beside it', { timeout: 60_000 }, async () => {
  for (const [command, args, stdin] of [['serve', [], 'ignore'], ['pipe', ['--size', '32x32'], 'pipe'], ['demo', [], 'ignore']]) {
    const server = await serve(command, args, { stdin });
    limitFiles(server.child.pid, 1); // poll() takes no more than so many
    const [visitor] = crowd(1, { host: '127.0.0.1', port: new URL(server.base).port }); // wakes it
    const { code } = await server.child.exited;
    assert.equal(code, 1, `${command}: ${server.child.log}`);
    assert.match(server.child.log, /ended by itself: the limit of open files was lowered/);
    visitor.destroy();
  }
});
