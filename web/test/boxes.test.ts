import { describe, expect, test } from 'vitest';

import { samplesOf, timescaleOf, timesOf } from '../src/media/boxes';
import { box, u32 } from './h264';

const kZero = [0, 0, 0, 0];

function init(version: 0 | 1, timescale: number): Uint8Array {
  const times = version === 1 ? Array<number>(16).fill(0) : Array<number>(8).fill(0);
  const mdhd = box('mdhd', [version, 0, 0, 0], times, u32(timescale), kZero);
  return Uint8Array.from([...box('ftyp', kZero), ...box('moov', box('mvhd', kZero), box('trak', box('mdia', mdhd)))]);
}

function fragment(tfhd: number[], tfdt: number[], trun: number[]): Uint8Array {
  const traf = box('traf', box('tfhd', tfhd), box('tfdt', tfdt), box('trun', trun));
  return Uint8Array.from([...box('moof', box('mfhd', kZero, kZero), traf), ...box('mdat', [1, 2, 3])]);
}

describe('an init segment', () => {
  test('says its timescale, in both versions of the box', () => {
    expect(timescaleOf(init(0, 15360))).toBe(15360);
    expect(timescaleOf(init(1, 90000))).toBe(90000);
  });

  test('that is cut short or none says nothing', () => {
    const whole = init(1, 90000);
    for (let cut = 0; cut < whole.length; ++cut) expect(timescaleOf(whole.subarray(0, cut))).toBeUndefined();
  });
});

describe('a fragment', () => {
  test('has a decode time of 32 or 64 bits', () => {
    const trun = [0, 0, 0, 0, ...u32(1)];
    expect(timesOf(fragment([0, 0, 0, 0, ...u32(1)], [0, 0, 0, 0, ...u32(77)], trun))?.decodeTime).toBe(77);
    const wide = [1, 0, 0, 0, ...u32(3), ...u32(5)];
    expect(timesOf(fragment([0, 0, 0, 0, ...u32(1)], wide, trun))?.decodeTime).toBe(3 * 2 ** 32 + 5);
  });

  test('lasts as long as the default says, or its samples', () => {
    const tfdt = [0, 0, 0, 0, ...u32(0)];
    const byDefault = [0, 0x02, 0, 0x0a, ...u32(1), ...u32(9), ...u32(512)]; // sample description index, duration
    expect(timesOf(fragment(byDefault, tfdt, [0, 0, 0, 1, ...u32(2), ...u32(100)]))?.duration).toBe(1024);
    const bySample = [0, 0, 0x03, 0x01, ...u32(2), ...u32(100), ...u32(500), ...u32(7), ...u32(524), ...u32(7)];
    expect(timesOf(fragment(byDefault, tfdt, bySample))?.duration).toBe(1024);
    expect(timesOf(fragment([0, 0, 0, 0, ...u32(1)], tfdt, [0, 0, 0, 0, ...u32(1)]))?.duration).toBe(0);
  });

  test('gives its samples', () => {
    const bytes = fragment([0, 0, 0, 0, ...u32(1)], [0, 0, 0, 0, ...u32(0)], [0, 0, 0, 0, ...u32(1)]);
    expect(samplesOf(bytes)).toEqual(Uint8Array.of(1, 2, 3));
    expect(samplesOf(bytes.subarray(0, bytes.length - 1))).toBeUndefined();
  });
});
