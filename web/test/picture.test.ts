import { describe, expect, test } from 'vitest';

import { Shape } from '../src/gen/phosphene_pb';
import { FactsStore, kFrames } from '../src/picture/facts_store';
import { edgeOf, intervalOf, levelOf, markOf } from '../src/picture/level';
import { readNumber } from '../src/picture/number';
import { facts } from './make';

/** The margin as a canvas gives it, black 0 and white 255 unless told otherwise. */
function margin(number: number, black = 0, white = 255): Uint8ClampedArray {
  const rgba = new Uint8ClampedArray(64 * 2 * 4);
  for (let i = 0; i < 128; ++i) {
    const bit = Math.floor(number / 2 ** (31 - ((i % 64) >> 1))) % 2;
    rgba.fill(bit ? white : black, 4 * i, 4 * i + 3);
    rgba[4 * i + 3] = 255;
  }
  return rgba;
}

describe('the number in the margin', () => {
  test('is read for every bit, the most significant first', () => {
    for (const number of [0, 1, 2, 1500, 0x80000000, 0xfffffffe, 0xffffffff, 0xdeadbeef]) {
      expect(readNumber(margin(number))).toBe(number);
    }
  });

  test('survives a lossy picture', () => {
    expect(readNumber(margin(123456789, 40, 210))).toBe(123456789);
  });

  test('is nothing where there is no margin', () => {
    expect(readNumber(margin(5, 0, 128))).toBeUndefined();
    expect(readNumber([])).toBeUndefined();
  });
});

describe('levels', () => {
  test('come back from their luma as every engine shows it', () => {
    for (let level = 0; level < 16; ++level) {
      const luma = Math.round(16 + (level * 219) / 15);
      const blue = ((luma - 16) * 255) / 219;
      for (const error of [-6, 0, 6]) expect(levelOf(Math.max(0, blue + error))).toBe(level);
    }
  });

  test('a red cell is NaN, a cyan one is infinite, grey ones are neither', () => {
    expect(markOf(252, 51)).toBe('nan');
    expect(markOf(54, 255)).toBe('inf');
    for (let grey = 0; grey < 256; ++grey) expect(markOf(grey, grey)).toBe('none');
    expect(markOf(150, 120)).toBe('none'); // chroma of a neighbour
  });

  test('their intervals tile the range, each value in the level that quantises it', () => {
    for (const range of [
      { lo: -1, hi: 3, shape: Shape.LINEAR },
      { lo: -0.2, hi: 0.2, shape: Shape.SYMMETRIC },
    ]) {
      for (let level = 0; level < 15; ++level) expect(intervalOf(range, level)[1]).toBe(intervalOf(range, level + 1)[0]);
      for (let i = 0; i < 997; ++i) {
        const x = range.lo + ((i + 0.5) / 997) * (range.hi - range.lo);
        const [lo, hi] = intervalOf(range, Math.floor((16 * (x - range.lo)) / (range.hi - range.lo)));
        expect(x >= lo && x < hi).toBe(true);
      }
      expect(intervalOf(range, 0)[0]).toBe(-Infinity);
      expect(intervalOf(range, 15)[1]).toBe(Infinity);
    }
  });

  test('a logarithmic range has the same ratio at every level, and 0 at the bottom', () => {
    const range = { lo: 1e-6, hi: 1e-2, shape: Shape.LOG };
    expect(edgeOf(range, 8)).toBeCloseTo(1e-4, 12);
    expect(edgeOf(range, 16)).toBeCloseTo(1e-2, 12);
    expect(intervalOf(range, 0)[0]).toBe(0);
    expect(edgeOf(range, 5) / edgeOf(range, 4)).toBeCloseTo(edgeOf(range, 12) / edgeOf(range, 11), 9);
  });

  test('a constant tensor has its one value', () => {
    expect(intervalOf({ lo: 0.5, hi: 0.5, shape: Shape.LINEAR }, 8)).toEqual([0.5, 0.5]);
  });
});

describe('facts', () => {
  test('case_23, case_12: when a tensor’s cells are from and which it lacks hold for its own frames alone', () => {
    const store = new FactsStore();
    store.add(facts({ number: 1, step: 10n, tensors: [{ tensor: 7, range: range(1) }] }));
    store.add(facts({ number: 2, step: 11n, tensors: [{ tensor: 7, range: range(1), step: 10n, absentY: [6, 2] }] }));
    store.add(facts({ number: 3, step: 12n, tensors: [{ tensor: 7, range: range(1) }] }));
    expect([1, 2, 3].map((number) => store.tensor(number, 7)?.step)).toEqual([undefined, 10, undefined]);
    expect([1, 2, 3].map((number) => store.tensor(number, 7)?.absentY?.length)).toEqual([0, 2, 0]);
  });

  const range = (hi: number): { lo: number; hi: number; shape: Shape } => ({ lo: 0, hi, shape: Shape.LINEAR });

  test('are those of the frame asked for, not of the newest', () => {
    const store = new FactsStore();
    store.add(facts({ number: 1, step: 10n, tensors: [{ tensor: 7, range: range(1) }] }));
    store.add(facts({ number: 2, step: 20n, tensors: [{ tensor: 7, range: range(2) }] }));
    expect(store.frame(1)?.step).toBe(10n);
    expect(store.tensor(1, 7)?.range?.hi).toBe(1);
    expect(store.tensor(2, 7)?.range?.hi).toBe(2);
  });

  test('what a frame leaves out is as it was', () => {
    const store = new FactsStore();
    store.add(facts({ number: 1, tensors: [{ tensor: 7, range: range(1), statistics: { mean: 0.5 } }, { tensor: 8, range: range(5) }] }));
    store.add(facts({ number: 2, tensors: [{ tensor: 7, range: range(2) }] }));
    expect(store.tensor(2, 7)?.statistics?.mean).toBe(0.5);
    expect(store.tensor(2, 8)?.range?.hi).toBe(5);
    expect(store.tensor(2, 9)).toBeUndefined();
  });

  test('a number that was never seen has none', () => {
    const store = new FactsStore();
    expect(store.frame(3)).toBeUndefined();
    expect(store.frame(undefined)).toBeUndefined();
    expect(store.tensor(3, 1)).toBeUndefined();
  });

  test('are bounded, and what was said long ago still holds', () => {
    const store = new FactsStore();
    store.add(facts({ number: 0, tensors: [{ tensor: 1, range: range(1) }] }));
    for (let number = 1; number <= 5 * kFrames; ++number) {
      store.add(facts({ number, tensors: [{ tensor: 2, range: range(number) }] }));
    }
    expect(store.frame(4 * kFrames)).toBeUndefined();
    expect(store.frame(4 * kFrames + 1)).toBeDefined();
    expect(store.tensor(5 * kFrames, 1)?.range?.hi).toBe(1);
    expect(store.tensor(4 * kFrames + 1, 2)?.range?.hi).toBe(4 * kFrames + 1);
  });

  test('a picture that is repeated keeps its number and takes what is new', () => {
    const store = new FactsStore();
    store.add(facts({ number: 1, tensors: [{ tensor: 1, range: range(1) }] }));
    store.add(facts({ number: 1, tensors: [{ tensor: 1, statistics: { mean: 3 } }] }));
    expect(store.tensor(1, 1)).toMatchObject({ range: { hi: 1 }, statistics: { mean: 3 } });
  });
});
