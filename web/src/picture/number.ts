// The number that each frame bears in its margin: which frame it is, whatever the player's clock says.

export const kCells = 32;
export const kCellSize = 2; // pixels
export const kMarginHeight = 2; // the picture's last rows

/**
 * Reads the number from RGBA pixels of the margin's first 64 columns. Thirty-two cells of 2×2, black 0 and white 1,
 * the most significant first. Nothing where a cell is neither: there is no margin, or the picture is not there yet.
 */
export function readNumber(rgba: ArrayLike<number>): number | undefined {
  const width = kCells * kCellSize;
  if (rgba.length < width * kMarginHeight * 4) return undefined;
  let number = 0;
  for (let cell = 0; cell < kCells; ++cell) {
    let sum = 0;
    for (let y = 0; y < kCellSize; ++y) {
      for (let x = 0; x < kCellSize; ++x) sum += rgba[4 * (y * width + cell * kCellSize + x) + 2]!;
    }
    const blue = sum / (kCellSize * kCellSize);
    if (blue > 85 && blue < 170) return undefined;
    number = number * 2 + (blue > 127 ? 1 : 0);
  }
  return number;
}
