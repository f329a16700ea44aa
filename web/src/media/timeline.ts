// One unbroken media time for all that is shown, whatever decode times the fragments bear: a channel that has run
// for hours, the next channel, and what follows a gap are each put where the last frame ended. So there are no
// holes to jump over, and nothing that is buffered is ever overwritten.
import { type FragmentTimes } from './boxes';

export class Timeline {
  private timescale = 1;
  private frame = 1 / 30;
  private expected: number | undefined; // decode time that follows the last fragment
  private end = 0;

  /** Nothing is buffered any more. */
  restart(): void {
    this.retreat(0);
  }

  /** A new init segment comes next. */
  begin(timescale: number, fps: number): void {
    this.timescale = timescale;
    this.frame = fps > 0 ? 1 / fps : 1 / 30;
    this.expected = undefined;
  }

  /** Fragments are left out: the next one follows what there is. */
  interrupt(): void {
    this.expected = undefined;
  }

  /** The last fragment was not taken: the next one begins at `end`. */
  retreat(end: number): void {
    this.end = end;
    this.expected = undefined;
  }

  /** Where the frame after the last one belongs, in seconds. */
  get edge(): number {
    return this.end;
  }

  /** Seconds. */
  get frameDuration(): number {
    return this.frame;
  }

  /** Adds a fragment. A number: the timestampOffset to set before it is appended; nothing: as before. */
  place({ decodeTime, duration }: FragmentTimes): number | undefined {
    const offset = decodeTime === this.expected ? undefined : this.end - decodeTime / this.timescale;
    this.expected = duration > 0 ? decodeTime + duration : undefined;
    this.end += duration > 0 ? duration / this.timescale : this.frame;
    return offset;
  }
}
