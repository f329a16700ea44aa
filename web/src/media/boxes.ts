// Just enough of ISO/IEC 14496-12 to place a fragment in time and to reach its samples.

export interface FragmentTimes {
  decodeTime: number; // ticks of the timescale
  duration: number;   // ticks; 0: not said
}

interface Box {
  type: string;
  begin: number; // of the payload
  end: number;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The boxes that lie whole in begin … end. */
function* boxes(bytes: Uint8Array, begin = 0, end = bytes.length): Generator<Box> {
  const data = view(bytes);
  for (let at = begin; at + 8 <= end; ) {
    let size = data.getUint32(at);
    let header = 8;
    if (size === 1 && at + 16 <= end) {
      size = Number(data.getBigUint64(at + 8));
      header = 16;
    } else if (size === 0) {
      size = end - at;
    }
    if (size < header || at + size > end) return;
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    yield { type, begin: at + header, end: at + size };
    at += size;
  }
}

/** The first box at a path such as `moov/trak/mdia/mdhd`. */
function find(bytes: Uint8Array, path: string): Box | undefined {
  let inside: Box = { type: '', begin: 0, end: bytes.length };
  for (const type of path.split('/')) {
    const next = [...boxes(bytes, inside.begin, inside.end)].find((box) => box.type === type);
    if (!next) return undefined;
    inside = next;
  }
  return inside;
}

/** Ticks a second of the first track of an init segment. */
export function timescaleOf(init: Uint8Array): number | undefined {
  const mdhd = find(init, 'moov/trak/mdia/mdhd');
  if (!mdhd) return undefined;
  const at = mdhd.begin + (init[mdhd.begin] === 1 ? 20 : 12);
  return at + 4 <= mdhd.end ? view(init).getUint32(at) || undefined : undefined;
}

/** Decode time and duration of a fragment (one moof, one track). */
export function timesOf(fragment: Uint8Array): FragmentTimes | undefined {
  const data = view(fragment);
  const tfdt = find(fragment, 'moof/traf/tfdt');
  if (!tfdt || tfdt.begin + 8 > tfdt.end) return undefined;
  const wide = fragment[tfdt.begin] === 1;
  if (wide && tfdt.begin + 12 > tfdt.end) return undefined;
  const decodeTime = wide ? Number(data.getBigUint64(tfdt.begin + 4)) : data.getUint32(tfdt.begin + 4);
  return { decodeTime, duration: durationOf(fragment, data) };
}

/** Sum over the samples: a trun may give each its own, tfhd a default. */
function durationOf(fragment: Uint8Array, data: DataView): number {
  const tfhd = find(fragment, 'moof/traf/tfhd');
  const trun = find(fragment, 'moof/traf/trun');
  if (!tfhd || !trun) return 0;

  let preset = 0;
  const tfhdFlags = data.getUint32(tfhd.begin) & 0xffffff;
  if (tfhdFlags & 0x8) {
    const at = tfhd.begin + 8 + (tfhdFlags & 0x1 ? 8 : 0) + (tfhdFlags & 0x2 ? 4 : 0);
    if (at + 4 <= tfhd.end) preset = data.getUint32(at);
  }

  const flags = data.getUint32(trun.begin) & 0xffffff;
  const samples = data.getUint32(trun.begin + 4);
  if (!(flags & 0x100)) return samples * preset;
  const stride = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length;
  let at = trun.begin + 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0);
  let sum = 0;
  for (let i = 0; i < samples && at + 4 <= trun.end; ++i, at += stride) sum += data.getUint32(at);
  return sum;
}

/** The samples of a fragment: the payload of its mdat. */
export function samplesOf(fragment: Uint8Array): Uint8Array | undefined {
  const mdat = find(fragment, 'mdat');
  return mdat && fragment.subarray(mdat.begin, mdat.end);
}
