// From a pixel back to a level, and from a level back to the values that it stands for.
import { type Range, Shape } from '../gen/phosphene_pb';

export const kLevels = 16;

export type Mark = 'none' | 'nan' | 'inf';

/** Blue carries the luma alone, since Cb is 128 everywhere. */
export function levelOf(blue: number): number {
  return Math.round(blue / 17);
}

/** Marks vary Cr alone: red at level 3 is NaN, cyan at level 15 is ±Inf. */
export function markOf(red: number, blue: number): Mark {
  const level = levelOf(blue);
  if (level === 3 && red - blue > 60) return 'nan';
  if (level === 15 && blue - red > 60) return 'inf';
  return 'none';
}

/** The value where level k begins; k = 16 is the top of the range. */
export function edgeOf({ lo, hi, shape }: Pick<Range, 'lo' | 'hi' | 'shape'>, k: number): number {
  if (shape !== Shape.LOG) return lo + ((hi - lo) * k) / kLevels;
  return lo > 0 && hi > 0 ? lo * (hi / lo) ** (k / kLevels) : hi;
}

/** The values at a level, as a half-open interval. The lowest and the highest level hold all beyond, too. */
export function intervalOf(range: Pick<Range, 'lo' | 'hi' | 'shape'>, level: number): [number, number] {
  if (!(range.hi > range.lo)) return [range.lo, range.hi];
  return [
    level === 0 ? (range.shape === Shape.LOG ? 0 : -Infinity) : edgeOf(range, level),
    level === kLevels - 1 ? Infinity : edgeOf(range, level + 1),
  ];
}
