// `phosphene serve` as programs and people meet it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { eventually } from '../lib/browsers.mjs';
import { binary, serve, start } from '../lib/program.mjs';

async function output(args) {
  const child = start(binary, args);
  let stdout = '';
  child.stdout.on('data', (bytes) => (stdout += bytes));
  const { code } = await child.exited;
  return { code, stdout, stderr: child.log };
}

test('the first line says where it listens, and SIGTERM and SIGINT end it in order', async () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const server = await serve();
    assert.match(server.listen, /^127\.0\.0\.1:\d+$/);
    assert.ok(server.url.startsWith(`http://${server.listen}/`));
    assert.ok(server.url.includes(server.token));
    assert.ok(server.token.length >= 32, 'a token that cannot be guessed');
    assert.equal(server.ingest.length, 1);
    assert.deepEqual(await server.stop(signal), { code: 0, signal: null });
  }
});

test('without --json stdout carries the URL alone', async () => {
  const child = start(binary, ['serve', '--listen', '127.0.0.1:0', '--ingest', 'tcp:127.0.0.1:0']);
  const [bytes] = await once(child.stdout, 'data');
  assert.match(String(bytes), /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}\n$/);
  await child.stop();
});

test('health, metrics, runs and channels', async () => {
  const server = await serve();
  try {
    assert.equal((await fetch(new URL('healthz', server.base))).status, 200);
    assert.deepEqual(await server.json('api/runs'), []);
    assert.deepEqual(await server.json('api/channels'), []);
    const metrics = await (await server.get('metrics')).text();
    for (const line of metrics.split('\n').filter((text) => text && !text.startsWith('#')))
      assert.match(line, /^phosphene_\w+(\{[^}]*\})? [-+0-9.eE]+$/);
    assert.match(metrics, /^phosphene_viewers 0$/m);
  } finally {
    await server.stop();
  }
});

test('case_41: without the token nothing but health answers; each way to give it works', async () => {
  const server = await serve();
  try {
    const bare = (path, init) => fetch(new URL(path, server.base), { redirect: 'manual', ...init });
    for (const path of ['', 'api/runs', 'api/channels', 'metrics', 'live.mp4?mode=parameters']) {
      const answer = await bare(path);
      assert.ok([401, 403].includes(answer.status), `${path}: ${answer.status}`);
    }
    assert.ok([401, 403].includes((await bare('api/runs?token=00000000000000000000000000000000')).status));
    assert.equal((await bare(`api/runs?token=${server.token}`)).status, 200);
    assert.equal((await server.get('api/runs')).status, 200);
    const door = await bare(`?token=${server.token}&mode=gradients`);
    assert.ok([302, 303, 307].includes(door.status), 'the token leaves the address bar');
    assert.ok(!door.headers.get('location').includes('token'));
    assert.ok(door.headers.get('location').includes('mode=gradients'), 'the view stays');
    const cookie = door.headers.get('set-cookie');
    assert.match(cookie, /HttpOnly/i);
    assert.match(cookie, /SameSite=Strict/i);
    assert.equal((await bare('api/runs', { headers: { Cookie: cookie.split(';')[0] } })).status, 200);
  } finally {
    await server.stop();
  }
});

test('a port in use is said; asked for by name it is an error, else the next one is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address();
  const { code, stderr } = await output(['serve', '--listen', `127.0.0.1:${port}`, '--ingest', 'tcp:127.0.0.1:0']);
  assert.equal(code, 1);
  assert.ok(stderr.includes(String(port)), stderr);
  taken.close();
});

test('what is wrong with the command line is named, with exit code 2', async () => {
  for (const [args, word] of [
    [['serve', '--listen', 'nonsense'], 'nonsense'],
    [['serve', '--ingest', 'carrier-pigeon:coop'], 'carrier-pigeon'],
    [['pipe', '--format', 'gray8'], '--size'],
    [['pipe', '--size', 'big'], 'big'],
    [['pipe', '--size', '8x8', '--range', '3,1'], '3,1'],
    [['dance'], 'dance'],
    [[], 'subcommand'],
  ]) {
    const { code, stdout, stderr } = await output(args);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.ok(stderr.includes(word), `${args.join(' ')}: ${stderr}`);
  }
  const help = await output(['--help']);
  assert.equal(help.code, 0);
  for (const word of ['demo', 'serve', 'pipe', '--version']) assert.ok(help.stdout.includes(word));
  assert.match((await output(['--version'])).stdout, /^phosphene \d+\.\d+\.\d+\n$/);
});

test('case_41: garbage on every port ends that connection and nothing else', async () => {
  const server = await serve('serve', [], { ingest: 'tcp:127.0.0.1:0' });
  try {
    const ports = [server.listen, server.address].map((address) => Number(address.match(/:(\d+)(\?|$)/)[1]));
    for (const port of ports) {
      for (const bytes of [Buffer.alloc(100_000, 0xff), Buffer.from('GET / HTTP/9.9\r\n\r\n'), Buffer.alloc(70_000, 0x00), Buffer.from([0x80])]) {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.resume();
        socket.end(bytes);
        await eventually('the connection ends', () => socket.closed);
      }
    }
    assert.equal((await fetch(new URL('healthz', server.base))).status, 200);
    assert.deepEqual(await server.json('api/runs'), []);
  } finally {
    assert.equal((await server.stop()).code, 0);
  }
});

test('an encoder that is missing is named before anything else happens', async () => {
  const { code, stderr } = await output(['serve', '--listen', '127.0.0.1:0', '--ingest', 'tcp:127.0.0.1:0', '--encoder', 'h264_crayon']);
  assert.equal(code, 1);
  assert.ok(stderr.includes('h264_crayon'), stderr);
});

test('two servers of one user: the second says that the socket is taken and goes on beside it', async () => {
  const runtime = { XDG_RUNTIME_DIR: (await import('node:fs')).mkdtempSync('/tmp/phosphene-run-') };
  const first = start(binary, ['serve', '--json', '--listen', '127.0.0.1:0'], { env: runtime });
  const one = JSON.parse(String((await once(first.stdout, 'data'))[0]));
  const second = start(binary, ['serve', '--json', '--listen', '127.0.0.1:0'], { env: runtime });
  const two = JSON.parse(String((await once(second.stdout, 'data'))[0]));
  assert.notEqual(one.ingest[0], two.ingest[0]);
  await eventually('it is said', () => second.log.includes(one.ingest[0].replace('unix:', '')));
  await first.stop();
  await second.stop();
});
