import { describe, expect, test } from 'vitest';

import { evictable, Jitter, steer, targetOf } from '../src/media/steering';

const frame = 1 / 30;

describe('steering', () => {
  test('plays at 1 at the target, faster behind it, slower before it, within bounds', () => {
    const rate = (lag: number): unknown => steer({ time: 10 - lag, ranges: [[0, 10]], frame, jitter: 0 });
    expect(rate(0.03)).toEqual({ rate: expect.closeTo(1, 6) });
    expect(rate(0.13)).toEqual({ rate: expect.closeTo(1.2, 6) });
    expect(rate(0.4)).toEqual({ rate: 1.5 });
    expect(rate(0)).toEqual({ rate: 0.95 });
  });

  test('seeks only beyond half a second, and then to the target', () => {
    expect(steer({ time: 9.4, ranges: [[0, 10]], frame, jitter: 0 })).toEqual({ seek: expect.closeTo(9.97, 6) });
  });

  test('seeks into a range that the player would never reach by itself', () => {
    expect(steer({ time: 0, ranges: [[100, 100.1]], frame, jitter: 0 })).toEqual({ seek: expect.closeTo(100.07, 6) });
    expect(steer({ time: 5, ranges: [[0, 5], [5.2, 5.21]], frame, jitter: 0 })).toEqual({ seek: 5.2 });
  });

  test('one frame a second is not lag', () => {
    expect(steer({ time: 9, ranges: [[0, 10]], frame: 1, jitter: 0 })).toEqual({ rate: expect.closeTo(1.2, 6) });
    expect(targetOf(1, 0)).toBe(0.9);
  });

  test('nothing buffered: nothing to do', () => {
    expect(steer({ time: 0, ranges: [], frame, jitter: 0 })).toEqual({ rate: 1 });
  });

  test('converges on the target from 400 ms behind', () => {
    let time = 9.6;
    let end = 10;
    for (let i = 0; i < 200; ++i) {
      const action = steer({ time, ranges: [[0, end]], frame, jitter: 0 });
      if ('seek' in action) throw new Error('no seek is needed');
      time = Math.min(end, time + action.rate * frame);
      end += frame;
    }
    expect(end - frame - time).toBeCloseTo(targetOf(frame, 0) - frame, 1);
  });
});

describe('eviction', () => {
  test('keeps five seconds, and waits until there are ten', () => {
    expect(evictable(9, [[0, 9.1]])).toBeUndefined();
    expect(evictable(11, [[0, 11.1]])).toEqual([0, 6]);
    expect(evictable(20, [[15, 20.1]])).toBeUndefined();
    expect(evictable(20, [])).toBeUndefined();
  });
});

describe('jitter', () => {
  test('is nothing for even arrivals', () => {
    const jitter = new Jitter();
    for (let i = 0; i < 100; ++i) jitter.add(i * frame, 1000 + i * frame);
    expect(jitter.seconds).toBeLessThan(0.002);
  });

  test('is about the largest delay, and is forgotten', () => {
    const jitter = new Jitter();
    for (let i = 0; i < 100; ++i) jitter.add(i * frame, 1000 + i * frame + (i % 2) * 0.04);
    expect(jitter.seconds).toBeGreaterThan(0.035);
    expect(jitter.seconds).toBeLessThan(0.045);
    for (let i = 100; i < 600; ++i) jitter.add(i * frame, 1000 + i * frame);
    expect(jitter.seconds).toBeLessThan(0.005);
  });

  test('does not take a gap in the channel for a delay for ever', () => {
    const jitter = new Jitter();
    jitter.add(0, 0);
    jitter.add(frame, 60);
    expect(jitter.seconds).toBeLessThanOrEqual(0.5);
  });
});
