// What the video said of its frames, kept until the frame is shown. Holds the newest kFrames frames; of each tensor the
// last that was said before them, too.
import { type Facts, type Range, type Statistics } from '../gen/phosphene_pb';

export const kFrames = 512;

export interface TensorKnown {
  range?: Range | undefined;
  statistics?: Statistics | undefined;
  step?: number | undefined;             // of its cells, where they are older than the frame
  absentX?: readonly number[] | undefined; // columns of cells that it does not have now: begin, length, begin, …
  absentY?: readonly number[] | undefined;
}

interface Said extends TensorKnown {
  at: number; // arrival of the frame that said so
}

export class FactsStore {
  private readonly arrivals = new Map<number, { at: number; facts: Facts }>(); // by frame number, oldest first
  private readonly tensors = new Map<number, Said[]>();
  private arrival = 0;

  /** In the order of arrival. What a frame leaves out is as it was. */
  add(facts: Facts): void {
    const at = ++this.arrival;
    this.arrivals.delete(facts.number);
    this.arrivals.set(facts.number, { at, facts });
    for (const number of this.arrivals.keys()) {
      if (this.arrivals.size <= kFrames) break;
      this.arrivals.delete(number);
    }
    const horizon = at - kFrames;
    for (const { tensor, range, statistics, step, absentX, absentY } of facts.tensors) {
      const said = this.tensors.get(tensor) ?? [];
      const before = said.at(-1);
      said.push({
        at,
        range: range ?? before?.range,
        statistics: statistics ?? before?.statistics,
        step: step === undefined ? undefined : Number(step),
        absentX,
        absentY,
      });
      while (said.length > 1 && said[1]!.at <= horizon) said.shift();
      this.tensors.set(tensor, said);
    }
  }

  frame(number: number | undefined): Facts | undefined {
    return number === undefined ? undefined : this.arrivals.get(number)?.facts;
  }

  /** What is known of a tensor as the frame of that number shows it. */
  tensor(number: number | undefined, tensor: number): TensorKnown | undefined {
    const frame = number === undefined ? undefined : this.arrivals.get(number);
    return frame && this.tensors.get(tensor)?.findLast((said) => said.at <= frame.at);
  }
}
