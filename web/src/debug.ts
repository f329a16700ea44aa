// window.phosphene: what is shown, to read only. For tests in real browsers and for the console.
import { type Facts } from './gen/phosphene_pb';
import { type Session } from './session';

export interface Debug {
  /** The frame on the canvas, by the number in its own margin; nothing while none is there or its facts are not known. */
  frame(): { number: number; step: number; width: number; height: number } | undefined;
  /** The level of each pixel of the canvas, round(B/17), row by row. */
  levels(): Uint8Array;
  /** What the video said of a frame, for the newest 512. */
  facts(number: number): Facts | undefined;
  /** The layout of the canvas, as the server sent it. */
  layout(): Session['layout'];
  /** Seconds between what is shown and the newest frame that arrived. */
  lag(): number;
}

declare global {
  interface Window {
    phosphene?: Debug;
  }
}

export function expose(session: Session): void {
  window.phosphene = Object.freeze<Debug>({
    frame: () => session.frame(),
    levels: () => session.levels(),
    facts: (number) => session.facts(number),
    layout: () => session.layout,
    lag: () => session.lag,
  });
}
