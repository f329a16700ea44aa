// Boxes and NAL units as an encoder and a muxer write them.

export function u32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

export function box(type: string, ...parts: ArrayLike<number>[]): number[] {
  const payload = parts.flatMap((part) => Array.from(part));
  return [...u32(8 + payload.length), ...[...type].map((letter) => letter.charCodeAt(0)), ...payload];
}

/** With its length before it. */
export function nal(bytes: ArrayLike<number>): number[] {
  return [...u32(bytes.length), ...Array.from(bytes)];
}

/** A NAL unit with one user-data message, emulation prevention included. */
export function seiNal(uuid: Uint8Array, message: Uint8Array): Uint8Array {
  const size = uuid.length + message.length;
  const raw = [5, ...Array<number>(Math.floor(size / 255)).fill(255), size % 255, ...uuid, ...message, 0x80];
  const out = [6];
  let zeros = 0;
  for (const byte of raw) {
    if (zeros >= 2 && byte <= 3) {
      out.push(3);
      zeros = 0;
    }
    out.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(nal(out));
}
