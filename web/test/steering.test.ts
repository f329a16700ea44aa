import { describe, expect, test } from 'vitest';

import { evictable, type Steer, steer, targetOf } from '../src/media/steering';

const frame = 1 / 30;

describe('steering', () => {
  const at = (time: number, ranges: [number, number][], more = {}): Steer =>
    steer({ time, ranges, keyframe: 0, frame, ...more });

  test('plays at 1 at the target, faster behind it, slower before it, within bounds', () => {
    const rate = (lag: number): unknown => at(10 - lag, [[0, 10]]);
    expect(rate(0.03)).toEqual({ rate: expect.closeTo(1, 6) });
    expect(rate(0.13)).toEqual({ rate: expect.closeTo(1.4, 6) });
    expect(rate(0.4)).toEqual({ rate: 2 });
    expect(rate(0)).toEqual({ rate: 0.95 });
  });

  test('far behind, it jumps to the target, but never decodes more than a second for it', () => {
    expect(at(9, [[0, 10]], { keyframe: 9.5 })).toEqual({ seek: expect.closeTo(9.97, 6) });
    expect(at(8, [[0, 10]], { keyframe: 8.5 })).toEqual({ rate: 2, wantsKeyframe: true });
    expect(at(5, [[0, 10]], { keyframe: 0 })).toEqual({ rate: 2, wantsKeyframe: true });
  });

  test('jumps to a keyframe that has just come, and into its frame whatever way a player rounds', () => {
    expect(at(5, [[0, 10]], { keyframe: 10 - frame })).toEqual({ seek: expect.closeTo(10 - frame / 2, 6) });
  });

  test('seeks into a range that the player would never reach by itself', () => {
    expect(at(0, [[100, 100.1]])).toEqual({ seek: expect.closeTo(100.07, 6) });
    expect(at(5, [[0, 5], [5.2, 5.21]])).toEqual({ seek: 5.2 });
  });

  test('a clock that ran past everything while the machine slept is set back', () => {
    expect(at(15, [[0, 10]])).toEqual({ seek: expect.closeTo(9.97, 6) });
    expect(at(10.05, [[0, 10]])).toEqual({ rate: 0.95 });
  });

  test('one frame a second is not lag', () => {
    expect(at(9, [[0, 10]], { frame: 1 })).toEqual({ rate: expect.closeTo(1.4, 6) });
    expect(targetOf(1)).toBe(0.9);
  });

  test('nothing buffered: nothing to do', () => {
    expect(at(0, [])).toEqual({ rate: 1 });
  });

  test('converges on the target from 400 ms behind', () => {
    let time = 9.6;
    let end = 10;
    for (let i = 0; i < 200; ++i) {
      const action = at(time, [[0, end]]);
      if ('seek' in action) throw new Error('no seek is needed');
      time = Math.min(end, time + action.rate * frame);
      end += frame;
    }
    expect(end - frame - time).toBeCloseTo(targetOf(frame) - frame, 1);
  });
});

describe('eviction', () => {
  const past = (time: number, begin: number, keyframes: number[]): unknown => evictable(time, [[begin, time + 0.1]], keyframes, frame);

  test('takes what is before the newest keyframe that is well behind', () => {
    expect(past(13, 0, [0, 10])).toEqual([0, expect.closeTo(10 - frame / 2, 6)]);
    expect(past(25, 10, [10, 20])).toEqual([10, expect.closeTo(20 - frame / 2, 6)]);
  });

  test('never takes a keyframe whose pictures are still to be shown', () => {
    expect(past(11, 0, [0, 10])).toBeUndefined();
    expect(past(12.9, 0, [0, 3])).toEqual([0, expect.closeTo(3 - frame / 2, 6)]);
    expect(past(30, 0, [0])).toBeUndefined();
  });

  test('is done once, and needs something to take', () => {
    expect(past(13, 10 - 1e-6, [10])).toBeUndefined();
    expect(evictable(20, [], [0, 10], frame)).toBeUndefined();
  });
});
