// Keeps the playhead at the live edge. Seconds throughout; the constants were measured in three engines.

const kLeastTarget = 0.03;
const kSeekBeyond = 0.5;
const kSlowest = 0.95;
export const kFastest = 1.5;
const kKeepBehind = 5;
const kEvictBeyond = 10;

export type Steer = { rate: number } | { seek: number };

export interface Playhead {
  time: number;
  ranges: readonly (readonly [number, number])[]; // what is buffered, ascending
  frame: number;  // duration of one frame
  jitter: number; // of arrivals
}

/** How far behind the end of what is buffered the playhead should be just after a frame came. */
export function targetOf(frame: number, jitter: number): number {
  return Math.max(kLeastTarget, 0.9 * frame, jitter);
}

/** What to do just after a frame was appended. Nothing is buffered: play on as it is. */
export function steer({ time, ranges, frame, jitter }: Playhead): Steer {
  const last = ranges.at(-1);
  if (!last) return { rate: 1 };
  const target = targetOf(frame, jitter);
  const lag = last[1] - time;
  // A player never starts before its first range by itself, and never crosses a hole.
  if (time < last[0] || lag > kSeekBeyond + target) return { seek: Math.max(last[0], last[1] - target) };
  return { rate: Math.min(kFastest, Math.max(kSlowest, 1 + 2 * (lag - target))) };
}

/** What of the past can go: removed in steps, since each removal holds appending up. */
export function evictable(time: number, ranges: Playhead['ranges']): [number, number] | undefined {
  const first = ranges[0];
  return first && first[0] < time - kEvictBeyond ? [first[0], time - kKeepBehind] : undefined;
}

/** How unevenly frames arrive: the largest delay of late against the fastest, forgotten slowly. */
export class Jitter {
  private fastest = Infinity;
  private peak = 0;

  get seconds(): number {
    return this.peak;
  }

  /** A frame that belongs at `media` came at `arrival`. */
  add(media: number, arrival: number): void {
    const transit = arrival - media;
    // Clocks drift: what was fastest long ago is forgotten at 1 ms a frame.
    this.fastest = Math.min(transit, this.fastest + 0.001);
    this.peak = Math.min(kSeekBeyond, Math.max(transit - this.fastest, this.peak * 0.99));
  }

  reset(): void {
    this.fastest = Infinity;
    this.peak = 0;
  }
}
