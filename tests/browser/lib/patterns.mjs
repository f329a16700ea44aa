// Pictures that both ends can compute: what a test sends, and what the page must show.

/** The level of a pixel in frame `step`: noise, the hardest thing for an encoder. Also runs inside the page. */
export function level(x, y, step) {
  let hash = (Math.imul(x + 1, 73856093) ^ Math.imul(y + 1, 19349663) ^ Math.imul(step + 1, 83492791)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) % 16;
}

/** A frame as `levels4`: rows of ceil(W/2) bytes, the left pixel in the high half. */
export function levels4(width, height, step) {
  const row = Math.ceil(width / 2);
  const bytes = Buffer.alloc(row * height);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) bytes[y * row + (x >> 1)] |= level(x, y, step) << (x % 2 ? 0 : 4);
  return bytes;
}

/** What a cell of `marked` holds that is no number: 'nan', 'inf', '-inf', or undefined. */
export function mark(x, y, step) {
  const dice = (x * 7 + y * 13 + step * 5) % 41;
  return dice === 3 ? 'nan' : dice === 17 ? 'inf' : dice === 29 ? '-inf' : undefined;
}

/** A frame as `float32` for --range 0,16, with NaN and ±Inf strewn over single pixels. */
export function marked(width, height, step) {
  const bytes = Buffer.alloc(4 * width * height);
  const values = { nan: NaN, inf: Infinity, '-inf': -Infinity };
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const special = mark(x, y, step);
      bytes.writeFloatLE(special ? values[special] : level(x, y, step) + 0.5, 4 * (y * width + x));
    }
  return bytes;
}
