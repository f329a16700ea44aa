// Copies each frame that the video presents onto a canvas of the frame's own size: there its cells can be enlarged
// without blurring in every engine, and its pixels can be read.
import { kCells, kCellSize, kMarginHeight, readNumber } from '../picture/number';
import { kLevels, levelOf } from '../picture/level';

export interface Painted {
  number: number | undefined; // as read from the picture itself
  width: number;
  height: number;
  mediaTime: number; // by the player's clock: a hint, it may be a frame off
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private last = -1;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly onPaint: (painted: Painted) => void,
  ) {
    this.context = canvas.getContext('2d', { alpha: false, willReadFrequently: true })!;
    this.next();
  }

  /** Red, green, blue of a pixel of the frame that is shown. */
  pixel(x: number, y: number): [number, number, number] {
    const [r, g, b] = this.context.getImageData(x, y, 1, 1).data;
    return [r!, g!, b!];
  }

  /** The level of every pixel, row by row. */
  levels(): Uint8Array {
    const { width, height } = this.canvas;
    const { data } = this.context.getImageData(0, 0, width, height);
    return Uint8Array.from({ length: width * height }, (_, i) => Math.min(kLevels - 1, levelOf(data[4 * i + 2]!)));
  }

  /** The number of the frame that is shown. */
  number(): number | undefined {
    const { width, height } = this.canvas;
    if (width < kCells * kCellSize || height < kMarginHeight) return undefined;
    return readNumber(this.context.getImageData(0, height - kMarginHeight, kCells * kCellSize, kMarginHeight).data);
  }

  private next(): void {
    if ('requestVideoFrameCallback' in this.video) {
      this.video.requestVideoFrameCallback((_, { width, height, mediaTime }) => {
        this.paint(width, height, mediaTime);
        this.next();
      });
      return;
    }
    requestAnimationFrame(() => {
      const { videoWidth, videoHeight, currentTime, readyState } = this.video as HTMLVideoElement;
      if (readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && currentTime !== this.last) {
        this.last = currentTime;
        this.paint(videoWidth, videoHeight, currentTime);
      }
      this.next();
    });
  }

  private paint(width: number, height: number, mediaTime: number): void {
    if (!width || !height) return;
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.context.drawImage(this.video, 0, 0, width, height);
    this.onPaint({ number: this.number(), width, height, mediaTime });
  }
}
