import { describe, expect, test } from 'vitest';

import { fitOf, formatView, parseView, scaleOf, withKey } from '../src/view';

describe('a view', () => {
  test('is its query, both ways', () => {
    const search = '?run=r1&mode=gradients&quality=smooth&size=1280x720&fps=10&scope=network&range=-1,1&shape=log&pooling=extreme';
    expect(formatView(parseView(search))).toBe(search);
  });

  test('ignores keys of others in parsing, and keeps them in writing', () => {
    expect(parseView('?token=abc&mode=off&utm=1')).toEqual({ mode: 'off' });
    expect(formatView({ mode: 'off' }, '?utm=1&mode=gradients')).toBe('?utm=1&mode=off');
    expect(formatView({})).toBe('');
  });

  test('takes runs of any name', () => {
    const view = { run: 'a/b & c=ü, 100 %' };
    expect(parseView(formatView(view))).toEqual(view);
  });

  test('leaves defaults out', () => {
    expect(withKey({ mode: 'off', scope: 'network' }, 'scope', 'layer')).toEqual({ mode: 'off' });
    expect(withKey({}, 'shape', 'log')).toEqual({ shape: 'log' });
    expect(withKey({ run: 'r' }, 'run', '')).toEqual({});
  });
});

describe('the canvas', () => {
  test('has a pixel for each of the area at ratio 1, even and within bounds', () => {
    expect(fitOf(961, 640.7, 1)).toBe('960x640');
    expect(fitOf(10, 3, 1)).toBe('64x16');
    expect(fitOf(9000, 5000, 1)).toBe('4096x4096');
  });

  test('has whole device pixels a pixel at any ratio', () => {
    expect(fitOf(960, 640, 2)).toBe('960x640');
    expect(fitOf(960, 640, 1.25)).toBe('1200x800');
    expect(fitOf(800, 600, 2.5)).toBe('1000x750');
    for (const ratio of [1, 1.25, 1.5, 1.75, 2, 2.5, 3]) {
      const [width, height] = fitOf(961, 643, ratio).split('x').map(Number) as [number, number];
      const scale = scaleOf([width, height], [961, 643], ratio) * ratio;
      expect(scale).toBeCloseTo(Math.floor(ratio), 9);
    }
  });

  test('is enlarged by whole device pixels, and reduced only where it does not fit', () => {
    expect(scaleOf([320, 200], [961, 643], 1)).toBe(3);
    expect(scaleOf([960, 640], [961, 643], 1)).toBe(1);
    expect(scaleOf([1920, 1280], [960, 640], 1)).toBe(0.5);
    expect(scaleOf([1920, 1280], [960, 640], 2)).toBe(0.5);
  });
});
