import { toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';

import { FactsSchema } from '../src/gen/phosphene_pb';
import { factsBytes, factsOf, kFactsUuid, withoutEmulationPrevention } from '../src/media/sei';
import { box, nal, seiNal } from './h264';
import { facts, random } from './make';

const kPicture = nal([0x65, 0x88, 0x84, 0x00, 0x10]);

describe('the facts of an access unit', () => {
  test('come out as they went in, whatever bytes they hold', () => {
    const next = random(3);
    for (const size of [1, 238, 239, 240, 254, 255, 256, 1000, 70_000]) {
      // Many zeros, so that emulation prevention has work.
      const message = Uint8Array.from({ length: size }, () => (next(3) ? next(4) : next(256)));
      const unit = Uint8Array.from([...seiNal(kFactsUuid, message), ...kPicture]);
      expect(factsBytes(unit)).toEqual(message);
    }
  });

  test('are found behind parameter sets and other SEI messages', () => {
    const foreign = seiNal(new Uint8Array(16).fill(7), Uint8Array.from([1, 2, 3]));
    const unit = Uint8Array.from([
      ...nal([0x67, 1]), ...nal([0x68, 1]), ...foreign, ...seiNal(kFactsUuid, Uint8Array.from([9])), ...kPicture,
    ]);
    expect(factsBytes(unit)).toEqual(Uint8Array.from([9]));
  });

  test('are nothing where there are none, and never an exception', () => {
    expect(factsBytes(Uint8Array.from(kPicture))).toBeUndefined();
    expect(factsBytes(new Uint8Array())).toBeUndefined();
    expect(factsBytes(Uint8Array.from([0, 0, 0, 0, 6]))).toBeUndefined();
    const whole = seiNal(kFactsUuid, Uint8Array.from([1, 2, 3, 4]));
    for (let cut = 0; cut < whole.length; ++cut) expect(factsBytes(whole.subarray(0, cut))).toBeUndefined();
  });

  test('garbage of any kind is no facts', () => {
    const next = random(11);
    for (let i = 0; i < 2000; ++i) {
      const bytes = Uint8Array.from({ length: next(80) }, () => next(256));
      expect(() => factsOf(bytes)).not.toThrow();
      expect(() => factsBytes(Uint8Array.from([0, 0, 0, bytes.length, 6, ...bytes]))).not.toThrow();
    }
  });

  test('are read out of a fragment', () => {
    const message = facts({ number: 4_000_000_000, step: 12n, run: 'r', layout: 3 });
    const unit = Uint8Array.from([...seiNal(kFactsUuid, toBinary(FactsSchema, message)), ...kPicture]);
    const fragment = Uint8Array.from([...box('moof'), ...box('mdat', unit)]);
    expect(factsOf(fragment)).toEqual(message);
    expect(factsOf(Uint8Array.from([...box('moof'), ...box('mdat', seiNal(kFactsUuid, Uint8Array.of(0xff)))]))).toBeUndefined();
  });
});

test('emulation prevention: only a 3 after two zeros goes', () => {
  const undone = (...bytes: number[]): number[] => [...withoutEmulationPrevention(Uint8Array.from(bytes))];
  expect(undone(0, 0, 3, 1)).toEqual([0, 0, 1]);
  expect(undone(0, 0, 3, 0, 0, 3)).toEqual([0, 0, 0, 0]);
  expect(undone(0, 3, 0, 3)).toEqual([0, 3, 0, 3]);
  expect(undone(0, 0, 3, 3)).toEqual([0, 0, 3]);
});
