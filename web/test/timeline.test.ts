import { describe, expect, test } from 'vitest';

import { Timeline } from '../src/media/timeline';

/** Where a fragment lands, given the offset that is in force. */
function play(timeline: Timeline, timescale: number, fragments: [number, number][], offset = 0): [number[], number] {
  const starts = fragments.map(([decodeTime, duration]) => {
    offset = timeline.place({ decodeTime, duration }) ?? offset;
    return offset + decodeTime / timescale;
  });
  return [starts, offset];
}

describe('the timeline', () => {
  test('begins at 0, however long the channel has run', () => {
    const timeline = new Timeline();
    timeline.begin(15360, 30);
    const [starts] = play(timeline, 15360, [[512_000_000, 512], [512_000_512, 512], [512_001_024, 512]]);
    expect(starts[0]).toBeCloseTo(0, 9);
    expect(starts[2]).toBeCloseTo(2 / 30, 9);
  });

  test('sets an offset only where it must', () => {
    const timeline = new Timeline();
    timeline.begin(30, 30);
    expect(timeline.place({ decodeTime: 9, duration: 1 })).toBe(-0.3);
    expect(timeline.place({ decodeTime: 10, duration: 1 })).toBeUndefined();
  });

  test('leaves no hole where frames were skipped, and never goes back', () => {
    const timeline = new Timeline();
    timeline.begin(30, 30);
    const [starts] = play(timeline, 30, [[0, 1], [1, 1], [50, 1], [51, 1], [20, 1]]);
    starts.forEach((start, i) => expect(start).toBeCloseTo(i / 30, 9));
  });

  test('puts the next channel behind the last, whatever its clock', () => {
    const timeline = new Timeline();
    timeline.begin(30, 30);
    const [, offset] = play(timeline, 30, [[0, 1], [1, 1], [2, 1]]);
    timeline.begin(1000, 10);
    const [starts] = play(timeline, 1000, [[77_000, 100], [77_100, 100]], offset);
    expect(starts[0]).toBeCloseTo(0.1, 9);
    expect(starts[1]).toBeCloseTo(0.2, 9);
    expect(timeline.edge).toBeCloseTo(0.3, 9);
  });

  test('goes on from what is really buffered after a fragment was refused', () => {
    const timeline = new Timeline();
    timeline.begin(30, 30);
    play(timeline, 30, [[0, 1], [1, 1], [2, 1]]);
    timeline.retreat(2 / 30);
    const [starts] = play(timeline, 30, [[3, 1]]);
    expect(starts[0]).toBeCloseTo(2 / 30, 9);
  });

  test('takes the nominal duration where a fragment says none', () => {
    const timeline = new Timeline();
    timeline.begin(1000, 25);
    timeline.place({ decodeTime: 5, duration: 0 });
    expect(timeline.edge).toBeCloseTo(0.04, 9);
  });
});
