// Which cell and which elements of a tensor a pixel shows, and back. The formulas are those of Span and SectionAxis
// in the protocol; all are exact in doubles for canvases of up to 4096² and axes of up to 2⁴⁰ elements.
import { type Layout, type Rect, type Section, type SectionAxis, type Span } from '../gen/phosphene_pb';

export interface Hit {
  section: Section;
  cellX: number;
  cellY: number;
}

export interface PixelRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The largest e with ⌊e·pixels/cells⌋ ≤ pixel. */
function below(pixel: number, pixels: number, cells: number): number {
  return Math.floor(((pixel + 1) * cells - 1) / pixels);
}

function contains(rect: Rect | undefined, x: number, y: number): rect is Rect {
  return !!rect && x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height;
}

/** The cell at a pixel of a span that is `pixels` long; nothing in a gap. */
export function cellAt(span: Span, pixels: number, pixel: number): number | undefined {
  const groups = (span.end - span.begin) / span.group;
  const period = pixels + span.gap;
  const group = below(pixel, period, groups);
  const start = Math.floor((group * period) / groups);
  const width = Math.floor(((group + 1) * period) / groups) - span.gap - start;
  if (pixel - start >= width) return undefined;
  return span.begin + group * span.group + below(pixel - start, width, span.group);
}

/** The pixels of a cell of a span, half-open; nothing if it lies outside. */
export function pixelsAt(span: Span, pixels: number, cell: number): [number, number] | undefined {
  if (cell < span.begin || cell >= span.end) return undefined;
  const groups = (span.end - span.begin) / span.group;
  const period = pixels + span.gap;
  const group = Math.floor((cell - span.begin) / span.group);
  const start = Math.floor((group * period) / groups);
  const width = Math.floor(((group + 1) * period) / groups) - span.gap - start;
  const e = cell - span.begin - group * span.group;
  return [start + Math.floor((e * width) / span.group), start + Math.floor(((e + 1) * width) / span.group)];
}

/** The cell at a pixel of the canvas; nothing in gaps, labels, the margin, or where nothing stands. */
export function hit(layout: Layout, x: number, y: number): Hit | undefined {
  for (const section of layout.sections) {
    if (!contains(section.rect, x, y)) continue;
    for (const block of section.blocks) {
      if (!contains(block.rect, x, y) || !block.x || !block.y) continue;
      const cellX = cellAt(block.x, block.rect.width, x - block.rect.x);
      const cellY = cellAt(block.y, block.rect.height, y - block.rect.y);
      return cellX === undefined || cellY === undefined ? undefined : { section, cellX, cellY };
    }
  }
  return undefined;
}

/** The pixels that show a cell. */
export function pixelsOf({ section, cellX, cellY }: Hit): PixelRect | undefined {
  for (const { rect, x, y } of section.blocks) {
    const across = rect && x && pixelsAt(x, rect.width, cellX);
    const down = rect && y && pixelsAt(y, rect.height, cellY);
    if (!across || !down) continue;
    return {
      x: rect.x + across[0],
      y: rect.y + down[0],
      width: across[1] - across[0],
      height: down[1] - down[0],
    };
  }
  return undefined;
}

/** The flattened elements that a cell of an axis holds, half-open. */
export function elementsOf(axis: SectionAxis, cell: number): [number, number] {
  const m = Number(axis.elements);
  return [Math.floor((cell * m) / axis.cells), Math.floor(((cell + 1) * m) / axis.cells)];
}

/** A flattened element of an axis as one index for each of its dimensions. */
export function unravel(axis: SectionAxis, element: number): number[] {
  const index: number[] = [];
  for (const size of axis.sizes.map(Number).reverse()) {
    index.unshift(element % size);
    element = Math.floor(element / size);
  }
  return index;
}

export interface Elements {
  first: number[]; // one index a dimension of the tensor
  last: number[];
  count: number;
}

/** The elements that a cell stands for, from its first to its last on both axes. */
export function elementsAt({ section, cellX, cellY }: Hit): Elements {
  const first = section.shape.map(() => 0);
  const last = [...first];
  let count = 1;
  for (const [axis, cell] of [
    [section.x, cellX],
    [section.y, cellY],
  ] as const) {
    if (!axis) continue;
    const [begin, end] = elementsOf(axis, cell);
    count *= end - begin;
    const low = unravel(axis, begin);
    const high = unravel(axis, end - 1);
    axis.dims.forEach((dim, i) => {
      first[dim] = low[i]!;
      last[dim] = high[i]!;
    });
  }
  return { first, last, count };
}
