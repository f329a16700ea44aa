// Training comes first: whatever happens to the server, the trainer goes on, and what happened to it is said.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from '../lib/browsers.mjs';
import { binary, root, serve, start } from '../lib/program.mjs';

const train = (address, language = 'c') =>
  start(join(root, `build/examples/train_${language}`), [], { env: { PHOSPHENE_ADDRESS: address } });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const run = async (server) => (await server.json('api/runs'))[0];
/** CPU time a process has used, in clock ticks: proof that it works, whoever watches. */
const ticks = async (child) => {
  const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

for (const language of ['c', 'cpp']) {
  test(`the ${language} example declares its tensors and its loss falls`, { timeout: 60_000 }, async () => {
    const server = await serve();
    const trainer = train(server.address, language);
    try {
      const first = await eventually('a run', async () => { const r = await run(server); return r?.scalars.loss !== undefined && r; });
      assert.equal(first.state, 'running');
      for (const kind of ['parameter', 'gradient', 'activation'])
        assert.ok(first.tensors.some((tensor) => tensor.kind === kind && tensor.dtype === 'float32' && tensor.shape.length > 0), kind);
      await eventually('the loss falls', async () => (await run(server)).scalars.loss < 0.7 * first.scalars.loss, 40);
    } finally {
      await trainer.stop('SIGKILL');
      await server.stop();
    }
  });
}

test('case_28: absent at the start, started later, killed, started again', { timeout: 90_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'phosphene-hook-'));
  const ingest = `unix:${join(directory, 'ingest.sock')}`;
  const trainer = train(ingest);
  let server;
  try {
    await pause(1000);
    assert.equal(trainer.exitCode, null, 'no server: training goes on');
    server = await serve('serve', [], { ingest });
    const found = await eventually('found', () => run(server));
    await server.child.stop('SIGKILL');
    await pause(1500);
    assert.equal(trainer.exitCode, null, 'killed: training goes on');
    server = await serve('serve', [], { ingest });
    const again = await eventually('found again, and on', async () => { const r = await run(server); return r?.step > found.step && r; });
    assert.equal(again.id, found.id, 'the same run');
    assert.ok(trainer.log.split('\n').filter((line) => line.includes('phosphene')).length <= 4, `few words:\n${trainer.log}`);
  } finally {
    await trainer.stop('SIGKILL');
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  }
});

test('case_28: a stopped server (SIGSTOP) does not stop training', { timeout: 60_000 }, async () => {
  const server = await serve();
  const trainer = train(server.address);
  const viewer = new AbortController();
  try {
    await eventually('a run', () => run(server));
    const media = await server.get('live.mp4?mode=parameters&size=640x480', { signal: viewer.signal });
    await media.body.getReader().read();
    const before = await eventually('watched', async () => (await run(server)).step);
    server.child.kill('SIGSTOP');
    const used = await ticks(trainer);
    await pause(3000);
    await eventually('the trainer works while the server is stopped', async () => (await ticks(trainer)) > used);
    server.child.kill('SIGCONT');
    const after = await eventually('steps came meanwhile', async () => { const r = await run(server); return r.step > before && r.step; });
    await eventually('and go on', async () => (await run(server)).step > after);
  } finally {
    viewer.abort();
    server.child.kill('SIGCONT');
    await trainer.stop('SIGKILL');
    await server.stop();
  }
});

test('case_31: a trainer that dies has crashed, one that ends has ended', { timeout: 60_000 }, async () => {
  const server = await serve();
  try {
    const trainer = train(server.address);
    await eventually('running', async () => (await run(server))?.state === 'running');
    await trainer.stop('SIGKILL');
    await eventually('crashed', async () => (await run(server)).state === 'crashed');

    const pipe = start(binary, ['pipe', '--format', 'gray8', '--size', '64x64', '--fps', '100',
      '--name', 'short', '--to', server.address], { stdin: 'pipe' });
    pipe.stdin.end(Buffer.alloc(64 * 64 * 20, 100));
    assert.equal((await pipe.exited).code, 0);
    await eventually('ended', async () => (await server.json('api/runs')).find(({ name }) => name === 'short')?.state === 'ended');
  } finally {
    await server.stop();
  }
});

test('case_32: two runs of one name are two runs', { timeout: 60_000 }, async () => {
  const server = await serve();
  const trainers = [train(server.address), train(server.address)];
  try {
    const runs = await eventually('two runs', async () => { const list = await server.json('api/runs'); return list.length === 2 && list; });
    assert.notEqual(runs[0].id, runs[1].id);
    assert.equal(runs[0].name, runs[1].name);
  } finally {
    await Promise.all(trainers.map((trainer) => trainer.stop('SIGKILL')));
    await server.stop();
  }
});

test('PHOSPHENE_MODE=disabled: no connection is made', { timeout: 30_000 }, async () => {
  const server = await serve();
  const trainer = start(join(root, 'build/examples/train_c'), [], { env: { PHOSPHENE_ADDRESS: server.address, PHOSPHENE_MODE: 'disabled' } });
  try {
    await pause(1500);
    assert.equal(trainer.exitCode, null);
    assert.deepEqual(await server.json('api/runs'), []);
  } finally {
    await trainer.stop('SIGKILL');
    await server.stop();
  }
});

test('case_41: over TCP the address as printed lets a hook in, without its token it is refused', { timeout: 60_000 }, async () => {
  const server = await serve('serve', [], { ingest: 'tcp:127.0.0.1:0' });
  try {
    assert.ok(server.address.endsWith(`?token=${server.token}`), server.address);
    const stranger = start(binary, ['pipe', '--size', '32x32', '--name', 'stranger', '--to', server.address.split('?')[0]], { stdin: 'pipe' });
    stranger.stdin.write(Buffer.alloc(32 * 32));
    await eventually('the refusal is read', () => /refused this run: its token is missing/.test(stranger.log));
    assert.deepEqual(await server.json('api/runs'), []);
    await stranger.stop();
    const guest = start(binary, ['pipe', '--size', '32x32', '--name', 'guest', '--to', server.address], { stdin: 'pipe' });
    guest.stdin.write(Buffer.alloc(32 * 32));
    await eventually('the run is there', async () => (await server.json('api/runs'))[0]?.name === 'guest');
    await guest.stop();
  } finally {
    await server.stop();
  }
});
