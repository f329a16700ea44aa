// Short ways to messages for the tests.
import { create, type MessageInitShape } from '@bufbuild/protobuf';

import { type Facts, FactsSchema, type Section, SectionSchema } from '../src/gen/phosphene_pb';

export function section(init: MessageInitShape<typeof SectionSchema>): Section {
  return create(SectionSchema, init);
}

export function facts(init: MessageInitShape<typeof FactsSchema>): Facts {
  return create(FactsSchema, init);
}

/** A seeded generator of whole numbers 0 … below − 1 (Lehmer, 2³¹ − 1). */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}
