// The program as a process of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const binary = process.env.PHOSPHENE_PROGRAM ?? join(root, 'build/phosphene');

// A child that a failed test left behind would keep this process from ending.
const running = new Set();
const killAll = () => running.forEach((child) => child.kill('SIGKILL'));
if (process.env.NODE_TEST_CONTEXT) after(killAll);
process.on('exit', killAll);

/** Starts a program and collects its stderr; `env` is added to ours. */
export function start(path, args, { env = {}, stdin = 'ignore' } = {}) {
  const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: [stdin, 'pipe', 'pipe'] });
  running.add(child);
  child.log = '';
  child.stderr.on('data', (bytes) => (child.log = (child.log + bytes).slice(-100_000)));
  child.exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  child.stop = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return child.exited;
  };
  return child;
}

/** Starts a command that serves, on a free port and a socket of its own, and waits until it says where. */
export async function serve(command = 'serve', args = [], options = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'phosphene-test-'));
  const ingest = options.ingest ?? `unix:${join(directory, 'ingest.sock')}`;
  const [program, ...before] = [...(options.under ?? []), binary]; // under: a command that runs it, prlimit for instance
  const child = start(program,
    [...before, command, '--json', '--listen', options.listen ?? '127.0.0.1:0', '--ingest', ingest, ...args], options);
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, 'line').then(([line]) => line),
    child.exited.then(({ code }) => {
      throw new Error(`phosphene ${command} ended with ${code} before it listened:\n${child.log}`);
    }),
  ]);
  const said = JSON.parse(first);
  const base = new URL(said.url);
  base.search = '';
  return {
    ...said,
    child,
    base: base.href,
    address: said.ingest[0],
    get: (path, init = {}) => fetch(new URL(path, base), { ...init, headers: { Authorization: `Bearer ${said.token}`, ...init.headers } }),
    json: async (path) => (await fetch(new URL(path, base), { headers: { Authorization: `Bearer ${said.token}` } })).json(),
    async stop(signal) {
      const how = await child.stop(signal);
      await rm(directory, { recursive: true, force: true });
      return how;
    },
  };
}
