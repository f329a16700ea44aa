import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';

import { RunScalarsSchema } from '../src/gen/phosphene_pb';
import { firstShown, isLoss, kMostPoints, ScalarStore } from '../src/scalars';

function message(steps: number[], values: number[], reset = false) {
  return create(RunScalarsSchema, { reset, scalars: { series: [{ name: 'loss', steps: steps.map(BigInt), values }] } });
}

describe('curves', () => {
  test('grow with what comes', () => {
    const store = new ScalarStore();
    store.add(message([1, 2], [3, 2]));
    store.add(message([3], [1]));
    expect(store.curves.get('loss')).toEqual({ steps: [1, 2, 3], values: [3, 2, 1] });
  });

  test('are replaced on reset, and nothing is doubled by a reconnect', () => {
    const store = new ScalarStore();
    store.add(message([1, 2], [3, 2]));
    store.add(message([1, 2, 3], [3, 2, 1], true));
    expect(store.curves.get('loss')?.steps).toEqual([1, 2, 3]);
  });

  test('are written anew from the step that a run went back to', () => {
    const store = new ScalarStore();
    store.add(message([10, 20, 30], [3, 2, 1]));
    store.add(message([20], [2.5]));
    expect(store.curves.get('loss')).toEqual({ steps: [10, 20], values: [3, 2.5] });
  });

  test('are bounded over days, the newest points all there', () => {
    const store = new ScalarStore();
    for (let i = 0; i < 100; ++i) {
      const steps = Array.from({ length: 1000 }, (_, k) => i * 1000 + k);
      store.add(message(steps, steps));
    }
    const { steps, values } = store.curves.get('loss')!;
    expect(steps.length).toBeLessThanOrEqual(kMostPoints);
    expect(values).toEqual(steps);
    expect(steps.slice(-1000)).toEqual(Array.from({ length: 1000 }, (_, k) => 99_000 + k));
    expect(steps[0]).toBe(0);
  });
});

test('what is a loss', () => {
  expect(['loss', 'val_loss', 'train/Loss', 'error'].every(isLoss)).toBe(true);
  expect(['accuracy', 'lr'].some(isLoss)).toBe(false);
});

test('losses and accuracies are shown first, else whatever there is', () => {
  expect(firstShown(['lr', 'loss', 'val_accuracy'])).toEqual(['loss', 'val_accuracy']);
  expect(firstShown(['lr', 'momentum'])).toEqual(['lr']);
  expect(firstShown([])).toEqual([]);
});
