// The facts of a frame, out of its H.264 access unit (ISO/IEC 14496-10, annex D: user data, unregistered).
import { fromBinary } from '@bufbuild/protobuf';

import { type Facts, FactsSchema } from '../gen/phosphene_pb';
import { samplesOf } from './boxes';

/** Says that a message is ours; kFactsUuid of src/encode. */
export const kFactsUuid = Uint8Array.from([
  0x9e, 0x1d, 0x5c, 0x3a, 0x70, 0x68, 0x4f, 0x73, 0xb0, 0x8e, 0x6e, 0x65, 0x66, 0x61, 0x63, 0x74,
]);

const kNalSei = 6;
const kNalFirstSlice = 1;
const kNalIdrSlice = 5;
const kUserDataUnregistered = 5;

/** Takes the 3 out of 00 00 03, which keeps start codes out of a NAL unit. */
export function withoutEmulationPrevention(nal: Uint8Array): Uint8Array {
  const out = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    out[length++] = byte;
  }
  return out.subarray(0, length);
}

function isOurs(payload: Uint8Array): boolean {
  return payload.length >= kFactsUuid.length && kFactsUuid.every((byte, i) => payload[i] === byte);
}

/** The message behind our UUID in one SEI NAL unit, header included. */
function factsInSei(nal: Uint8Array): Uint8Array | undefined {
  const bytes = withoutEmulationPrevention(nal.subarray(1));
  let at = 0;
  const number = (): number => {
    let sum = 0;
    while (bytes[at] === 0xff) sum += bytes[at++]!;
    return sum + (bytes[at++] ?? 0);
  };
  while (at + 2 < bytes.length) {
    const type = number();
    const size = number();
    if (at + size > bytes.length) return undefined;
    const payload = bytes.subarray(at, at + size);
    if (type === kUserDataUnregistered && isOurs(payload)) return payload.subarray(kFactsUuid.length);
    at += size;
  }
  return undefined;
}

/** The serialised facts of an access unit of NAL units with four-byte lengths before them. */
export function factsBytes(accessUnit: Uint8Array): Uint8Array | undefined {
  const data = new DataView(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  for (let at = 0; at + 4 < accessUnit.length; ) {
    const size = data.getUint32(at);
    const nal = accessUnit.subarray(at + 4, at + 4 + size);
    if (size === 0 || nal.length < size) return undefined;
    const type = nal[0]! & 31;
    if (type === kNalSei) {
      const facts = factsInSei(nal);
      if (facts) return facts;
    } else if (type === kNalFirstSlice || type === kNalIdrSlice) {
      return undefined; // SEI comes before the picture
    }
    at += 4 + size;
  }
  return undefined;
}

/** The facts of a fragment of one frame; nothing where it bears none that can be read. */
export function factsOf(fragment: Uint8Array): Facts | undefined {
  const samples = samplesOf(fragment);
  const bytes = samples && factsBytes(samples);
  if (!bytes) return undefined;
  try {
    return fromBinary(FactsSchema, bytes);
  } catch {
    return undefined;
  }
}
