import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';

import { delayOf } from '../src/connection';
import { RunInfoSchema, RunState } from '../src/gen/phosphene_pb';
import { type Situation, statusOf } from '../src/status';

function run(state: RunState): Situation['run'] {
  return create(RunInfoSchema, { id: 'r', name: 'mnist', state });
}

const live: Situation = {
  link: 'open', everOpen: true, playable: true, mode: 'parameters', runs: 1, run: run(RunState.RUNNING), stop: undefined,
  picture: true, blocked: false, silent: false, behind: 0.1, notice: undefined,
};

describe('the state in words', () => {
  test.each<[string, Partial<Situation>]>([
    ['live', {}],
    ['connecting', { link: 'connecting' }],
    ['no server', { link: 'lost', everOpen: false }],
    ['reconnecting', { link: 'lost' }],
    ['not let in', { link: 'refused' }],
    ['no H.264 here', { playable: false, link: 'connecting' }],
    ['off', { mode: 'off', picture: false, stop: 'off' }],
    ['waiting for a run', { runs: 0, run: undefined, picture: false, stop: 'waiting for a run' }],
    ['waiting for a picture', { picture: false }],
    ['training paused', { run: run(RunState.PAUSED) }],
    ['ended', { run: run(RunState.ENDED) }],
    ['crashed', { run: run(RunState.CRASHED) }],
    ['click to play', { blocked: true }],
    ['no answer', { silent: true }],
    ['3 s behind', { behind: 3.2 }],
    ['no picture', { picture: false, stop: 'the encoder libx264 is missing' }],
  ])('%s', (text, situation) => {
    expect(statusOf({ ...live, ...situation }).text).toBe(text);
  });

  test('what a person can do is said', () => {
    expect(statusOf({ ...live, runs: 0, run: undefined }).detail).toContain('phosphene demo');
    expect(statusOf({ ...live, link: 'refused' }).detail).toContain('URL');
    expect(statusOf({ ...live, picture: false, stop: 'the encoder libx264 is missing' }).detail).toBe('The encoder libx264 is missing.');
    expect(statusOf({ ...live, picture: false, notice: 'mode=x is not a view.' }).detail).toBe('Mode=x is not a view.');
  });

  test('a lost server counts for more than what was known of the run', () => {
    expect(statusOf({ ...live, link: 'lost', run: run(RunState.ENDED) }).text).toBe('reconnecting');
  });
});

test('reconnecting backs off from a quarter of a second to three', () => {
  expect([1, 2, 3, 4, 5, 6, 50].map(delayOf)).toEqual([250, 500, 1000, 2000, 3000, 3000, 3000]);
});
