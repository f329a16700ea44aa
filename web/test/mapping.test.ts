import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';

import { LayoutSchema, Pooling, type Span, SpanSchema } from '../src/gen/phosphene_pb';
import { cellAt, elementsAt, elementsOf, hit, pixelsAt, pixelsOf, unravel } from '../src/picture/mapping';
import { random, section } from './make';

/** The protocol's words, followed literally: group by group, cell by cell. */
function drawn(span: Span, pixels: number): (number | undefined)[] {
  const row: (number | undefined)[] = Array.from({ length: pixels }, () => undefined);
  const groups = (span.end - span.begin) / span.group;
  for (let j = 0; j < groups; ++j) {
    const start = Math.floor((j * (pixels + span.gap)) / groups);
    const width = Math.floor(((j + 1) * (pixels + span.gap)) / groups) - span.gap - start;
    for (let e = 0; e < span.group; ++e) {
      const end = start + Math.floor(((e + 1) * width) / span.group);
      for (let x = start + Math.floor((e * width) / span.group); x < end; ++x) row[x] = span.begin + j * span.group + e;
    }
  }
  return row;
}

function spans(count: number): [Span, number][] {
  const next = random(7);
  return Array.from({ length: count }, () => {
    const group = 1 + next(9);
    const groups = 1 + next(40);
    const gap = groups > 1 ? next(4) : 0;
    const begin = next(100);
    const span = create(SpanSchema, { begin, end: begin + groups * group, group, gap });
    const least = groups * group + (groups - 1) * gap;
    return [span, least + next(least + 60)];
  });
}

describe('a span', () => {
  test('gives each pixel the cell that the formula draws there, or none in a gap', () => {
    for (const [span, pixels] of spans(400)) {
      const row = Array.from({ length: pixels }, (_, pixel) => cellAt(span, pixels, pixel));
      expect(row).toEqual(drawn(span, pixels));
    }
  });

  test('gives each cell exactly the pixels that give the cell', () => {
    for (const [span, pixels] of spans(400)) {
      const row = drawn(span, pixels);
      const cells = Array.from({ length: span.end - span.begin }, (_, i) => span.begin + i);
      expect(cells.map((cell) => pixelsAt(span, pixels, cell))).toEqual(
        cells.map((cell) => [row.indexOf(cell), row.lastIndexOf(cell) + 1]),
      );
    }
  });

  test('has no pixels for cells outside', () => {
    const span = create(SpanSchema, { begin: 4, end: 8, group: 4, gap: 0 });
    expect(pixelsAt(span, 16, 3)).toBeUndefined();
    expect(pixelsAt(span, 16, 8)).toBeUndefined();
  });
});

// 4 outputs, 2 inputs, kernels of 3×2, folded in two bands of rows; then a pooled matrix of 10×1000.
const kernels = section({
  tensor: 1,
  name: 'conv.weight',
  shape: [4n, 2n, 3n, 2n],
  rect: { x: 10, y: 20, width: 39, height: 18 },
  x: { dims: [0, 3], sizes: [4n, 2n], elements: 8n, cells: 8 },
  y: { dims: [1, 2], sizes: [2n, 3n], elements: 6n, cells: 6 },
  blocks: [
    { rect: { x: 10, y: 20, width: 39, height: 8 }, x: { begin: 0, end: 8, group: 2, gap: 1 }, y: { begin: 0, end: 3, group: 3 } },
    { rect: { x: 10, y: 30, width: 39, height: 8 }, x: { begin: 0, end: 8, group: 2, gap: 1 }, y: { begin: 3, end: 6, group: 3 } },
  ],
});
const pooled = section({
  tensor: 2,
  name: 'fc.weight',
  shape: [10n, 1000n],
  rect: { x: 60, y: 20, width: 20, height: 37 },
  x: { dims: [0], sizes: [10n], elements: 10n, cells: 10 },
  y: { dims: [1], sizes: [1000n], elements: 1000n, cells: 37 },
  pooling: Pooling.RMS,
  blocks: [{ rect: { x: 60, y: 20, width: 20, height: 37 }, x: { begin: 0, end: 10, group: 10 }, y: { begin: 0, end: 37, group: 37 } }],
});
const layout = create(LayoutSchema, { id: 1, width: 100, height: 60, sections: [kernels, pooled] });

describe('a layout', () => {
  test('hit and pixelsOf are inverse at every pixel of the canvas', () => {
    const covered = new Map<string, number>();
    for (let y = 0; y < layout.height; ++y) {
      for (let x = 0; x < layout.width; ++x) {
        const at = hit(layout, x, y);
        if (!at) continue;
        const { x: left, y: top, width, height } = pixelsOf(at)!;
        expect(x >= left && x < left + width && y >= top && y < top + height).toBe(true);
        const key = `${at.section.tensor} ${at.cellX} ${at.cellY}`;
        covered.set(key, (covered.get(key) ?? 0) + 1);
        expect(covered.get(key)).toBeLessThanOrEqual(width * height);
      }
    }
    expect(covered.size).toBe(8 * 6 + 10 * 37);
  });

  test('nothing stands between kernels, between bands, and outside', () => {
    expect(hit(layout, 9, 20)).toBeUndefined();
    expect(hit(layout, 19, 20)).toBeUndefined(); // the gap after the first group: ⌊40/4⌋ − 1
    expect(hit(layout, 12, 28)).toBeUndefined();
    expect(hit(layout, 12, 59)).toBeUndefined();
  });

  test('a cell of a kernel is one element, its index that of the tensor', () => {
    const at = hit(layout, 10 + 30 + 6, 30 + 7)!; // last group, second column; second band, last row
    expect(elementsAt(at)).toEqual({ first: [3, 1, 2, 1], last: [3, 1, 2, 1], count: 1 });
  });

  test('a pooled cell is a run of elements', () => {
    const at = hit(layout, 62, 21)!;
    expect(elementsAt(at)).toEqual({ first: [1, 27], last: [1, 53], count: 27 });
  });
});

describe('an axis', () => {
  test('shares its elements out over the cells, none twice and none left', () => {
    for (const [elements, cells] of [[1000, 37], [37, 37], [4_000_000_000, 4096], [7, 1]] as const) {
      const axis = { ...kernels.x!, elements: BigInt(elements), cells };
      const runs = Array.from({ length: cells }, (_, cell) => elementsOf(axis, cell));
      expect(runs.every(([begin, end]) => end > begin)).toBe(true);
      expect(runs.map(([begin]) => begin)).toEqual([0, ...runs.map(([, end]) => end).slice(0, -1)]);
      expect(runs.at(-1)![1]).toBe(elements);
    }
  });

  test('unravels an element with its last dimension fastest', () => {
    expect(unravel(kernels.y!, 5)).toEqual([1, 2]);
    expect(unravel(kernels.y!, 3)).toEqual([1, 0]);
  });
});
