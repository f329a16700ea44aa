// The curves of one run: loss, accuracy, what else the hook logs.
import { type RunScalars } from './gen/phosphene_pb';

export const kMostPoints = 20_000; // a series; beyond it every second one of the older half goes

export interface Curve {
  steps: number[];
  values: number[];
}

export class ScalarStore {
  readonly curves = new Map<string, Curve>();
  version = 0; // grows with each change

  add({ reset, scalars }: Pick<RunScalars, 'reset' | 'scalars'>): void {
    ++this.version;
    if (reset) this.curves.clear();
    for (const { name, steps, values } of scalars?.series ?? []) {
      const curve = this.curves.get(name) ?? { steps: [], values: [] };
      this.curves.set(name, curve);
      const count = Math.min(steps.length, values.length);
      for (let i = 0; i < count; ++i) {
        const step = Number(steps[i]);
        // Steps only grow; a run that goes back to a checkpoint writes its curve anew from there.
        while (curve.steps.length && curve.steps.at(-1)! >= step) {
          curve.steps.pop();
          curve.values.pop();
        }
        curve.steps.push(step);
        curve.values.push(values[i]!);
      }
      if (curve.steps.length > kMostPoints) thin(curve);
    }
  }
}

function thin(curve: Curve): void {
  const half = curve.steps.length >> 1;
  const kept = (_: number, i: number): boolean => i >= half || i % 2 === 0;
  curve.steps = curve.steps.filter(kept);
  curve.values = curve.values.filter(kept);
}

/** Losses share an axis; all else has the other. */
export function isLoss(name: string): boolean {
  return /loss|error|perplexity|nll/i.test(name);
}

/** What is shown until a person chooses: losses and accuracies, or the first there is. */
export function firstShown(names: readonly string[]): string[] {
  const usual = names.filter((name) => isLoss(name) || /acc/i.test(name));
  return usual.length > 0 ? usual : names.slice(0, 1);
}
