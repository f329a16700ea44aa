// Keeps the playhead at the live edge. Seconds throughout; the constants were measured in three engines.
//
// Nothing is kept in hand against frames that come late: a late frame is shown when it comes, and what was late with it is
// caught up with. Keeping as much as arrivals spread made the picture older in each of three engines, on a busy machine.

const kLeastTarget = 0.03;
const kJumpBeyond = 0.5;
const kJumpAhead = 0.1; // the clock of a player that slept may have run past everything
const kSlowest = 0.95;
export const kFastest = 2;
const kGain = 4; // of the rate, for each second of lag
const kCheap = 1; // as long after a keyframe, decoding from it on is no burden
const kKeepBehind = 2;

/** Play at a rate, at that rate until a keyframe that is asked for comes, or from somewhere else. */
export type Steer = { rate: number; wantsKeyframe?: boolean } | { seek: number };

export interface Playhead {
  time: number;
  ranges: readonly (readonly [number, number])[]; // what is buffered, ascending
  keyframe: number | undefined;                   // when the newest one is shown
  frame: number;                                  // duration of one frame
}

/** How far behind the end of what is buffered the playhead should be just after a frame came. */
export function targetOf(frame: number): number {
  return Math.max(kLeastTarget, 0.9 * frame);
}

/** What to do just after a frame was appended. Nothing is buffered: play on as it is. */
export function steer({ time, ranges, keyframe, frame }: Playhead): Steer {
  const last = ranges.at(-1);
  if (!last) return { rate: 1 };
  const [begin, end] = last;
  const target = targetOf(frame);
  const lag = end - time;
  // A player never starts before its first range by itself, and never crosses a hole.
  if (time < begin || lag < -kJumpAhead) return { seek: Math.max(begin, end - target) };
  if (lag <= kJumpBeyond + target) return { rate: Math.min(kFastest, Math.max(kSlowest, 1 + kGain * (lag - target))) };
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
