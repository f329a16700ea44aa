// Keeps the playhead at the live edge. Seconds throughout; the constants were measured in three engines.

const kLeastTarget = 0.03;
const kJumpBeyond = 0.5;
const kJumpAhead = 0.1; // the clock of a player that slept may have run past everything
const kSlowest = 0.95;
export const kFastest = 1.5;
const kCheap = 1; // as long after a keyframe, decoding from it on is no burden
const kKeepBehind = 2;

/** Play at a rate, at that rate until a keyframe that is asked for comes, or from somewhere else. */
export type Steer = { rate: number; wantsKeyframe?: boolean } | { seek: number };

export interface Playhead {
  time: number;
  ranges: readonly (readonly [number, number])[]; // what is buffered, ascending
  keyframe: number | undefined;                   // when the newest one is shown
  frame: number;  // duration of one frame
  jitter: number; // of arrivals
}

/** How far behind the end of what is buffered the playhead should be just after a frame came. */
export function targetOf(frame: number, jitter: number): number {
  return Math.max(kLeastTarget, 0.9 * frame, jitter);
}

/** What to do just after a frame was appended. Nothing is buffered: play on as it is. */
export function steer({ time, ranges, keyframe, frame, jitter }: Playhead): Steer {
  const last = ranges.at(-1);
  if (!last) return { rate: 1 };
  const [begin, end] = last;
  const target = targetOf(frame, jitter);
  const lag = end - time;
  // A player never starts before its first range by itself, and never crosses a hole.
  if (time < begin || lag < -kJumpAhead) return { seek: Math.max(begin, end - target) };
  if (lag <= kJumpBeyond + target) return { rate: Math.min(kFastest, Math.max(kSlowest, 1 + 2 * (lag - target))) };
  // A seek decodes everything from the keyframe before it on. Who fell behind for want of processor time can afford that
  // from a new keyframe only.
  if (keyframe !== undefined && keyframe > time && end - keyframe <= Math.max(kCheap, 2 * frame)) {
    return { seek: Math.max(keyframe + frame / 2, end - target) };
  }
  return { rate: kFastest, wantsKeyframe: true };
}

/**
 * What of the past can go: whole groups of pictures, since with a keyframe goes all that needs it. `keyframes` are the
 * times of those that are buffered, ascending.
 */
export function evictable(time: number, ranges: Playhead['ranges'], keyframes: readonly number[], frame: number): [number, number] | undefined {
  const first = ranges[0];
  const keyframe = keyframes.findLast((at) => at <= time - kKeepBehind);
  // Players round times: half a frame before it there is surely nothing of the keyframe.
  return first && keyframe !== undefined && first[0] < keyframe - frame ? [first[0], keyframe - frame / 2] : undefined;
}

const kWindow = 64;        // frames
const kMostJitter = 0.2;
const kStall = 0.5;        // what comes later than that stood still; it tells nothing about the frames after it

/** How unevenly frames arrive: how much later than the fastest all but a few of the last frames came. */
export class Jitter {
  private readonly transits: number[] = [];
  private peak = 0;

  get seconds(): number {
    return this.peak;
  }

  /** A frame that belongs at `media` came at `arrival`. */
  add(media: number, arrival: number): void {
    const transit = arrival - media;
    const before = this.transits.at(-1);
    if (before !== undefined && Math.abs(transit - before) > kStall) this.reset();
    this.transits.push(transit);
    if (this.transits.length > kWindow) this.transits.shift();
    const sorted = [...this.transits].sort((a, b) => a - b);
    const usual = sorted[Math.floor(0.95 * (sorted.length - 1))]!;
    this.peak = Math.min(kMostJitter, usual - sorted[0]!);
  }

  reset(): void {
    this.transits.length = 0;
    this.peak = 0;
  }
}
