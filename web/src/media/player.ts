// The one <video>, fed through Media Source Extensions and held at the live edge.
import { type FragmentTimes, timescaleOf, timesOf } from './boxes';
import { evictable, kFastest, steer } from './steering';
import { Timeline } from './timeline';

declare global {
  interface Window {
    ManagedMediaSource?: typeof MediaSource; // the only one on iPhones
  }
}

const kMostWaiting = 256; // fragments not yet taken by the browser; beyond it all go, until the next keyframe
const kMostBytes = 32 << 20;
const kAskPause = 1000; // ms between two keyframes that are asked for

const Source = window.MediaSource ?? window.ManagedMediaSource;

/** Whether the browser plays a type, by default any H.264 at all. */
export function canPlay(mime = 'video/mp4; codecs="avc1.42C01F"'): boolean {
  return !!Source && Source.isTypeSupported(mime);
}

export interface PlayerEvents {
  /** The next channel's first frame will be shown at this media time. */
  onEpoch(time: number): void;
  onBlocked(blocked: boolean): void;
  /** Frames were left out here, or the picture fell far behind: only a keyframe helps. */
  onStarved(): void;
  /** `isWanted` changed. */
  onWanted(): void;
  /** The browser gave the stream up: all must come anew. */
  onBroken(why: string): void;
}

type Part = { init: Uint8Array; timescale: number; fps: number } | { media: Uint8Array; times: FragmentTimes | undefined; keyframe: boolean };

function append(buffer: SourceBuffer, bytes: Uint8Array): void {
  buffer.appendBuffer(bytes as Uint8Array<ArrayBuffer>);
}

export class Player {
  private source: MediaSource | undefined;
  private buffer: SourceBuffer | undefined;
  private mime = '';
  private waiting: Part[] = [];
  private waitingBytes = 0;
  private needsKeyframe = true;
  private readonly timeline = new Timeline();
  private keyframes: number[] = []; // when those that are buffered are shown, ascending
  private lastAsked = -Infinity;
  private appended = false; // a fragment is on its way into the buffer
  private wanted = true;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly events: PlayerEvents,
  ) {
    video.muted = true;
    video.disableRemotePlayback = true; // ManagedMediaSource asks for it
    video.addEventListener('error', () => this.fail(video.error?.message || 'the video cannot be decoded'));
  }

  /** Seconds between what is shown and the newest frame that is here. */
  get lag(): number {
    const last = this.ranges().at(-1);
    return last ? Math.max(0, last[1] - this.video.currentTime) : 0;
  }

  /** Whether the browser takes frames at all; a ManagedMediaSource does not always, to spare a phone's radio. */
  get isWanted(): boolean {
    return this.wanted;
  }

  /** A channel begins: its init segment. */
  begin(mime: string, init: Uint8Array, fps: number): void {
    this.drop();
    this.mime = mime;
    if (!this.source) this.attach();
    this.waiting.push({ init, timescale: timescaleOf(init) ?? 1, fps });
    this.pump();
  }

  /** A frame. Those before the first keyframe are left out. */
  add(media: Uint8Array, keyframe: boolean): void {
    if (!this.wanted) return;
    if (this.waiting.length >= kMostWaiting || this.waitingBytes + media.length > kMostBytes) this.skip();
    if (this.needsKeyframe && !keyframe) return;
    this.needsKeyframe = false;
    this.waiting.push({ media, times: timesOf(media), keyframe });
    this.waitingBytes += media.length;
    this.pump();
  }

  /** After the browser stood still: a hidden tab, a click that it wanted. */
  resume(): void {
    this.video.play().then(
      () => this.events.onBlocked(false),
      (error: unknown) => {
        if (error instanceof DOMException && error.name === 'NotAllowedError') this.events.onBlocked(true);
      },
    );
  }

  private attach(): void {
    if (!Source) return;
    const source = new Source();
    this.source = source;
    this.timeline.restart();
    this.keyframes = [];
    source.addEventListener('endstreaming', () => this.setWanted(source, false));
    source.addEventListener('startstreaming', () => this.setWanted(source, true));
    const url = URL.createObjectURL(source);
    source.addEventListener(
      'sourceopen',
      () => {
        URL.revokeObjectURL(url);
        if (source !== this.source) return;
        try {
          this.buffer = source.addSourceBuffer(this.mime);
        } catch {
          this.fail(`this browser does not play ${this.mime}`);
          return;
        }
        this.buffer.addEventListener('updateend', () => this.onUpdated());
        this.buffer.addEventListener('error', () => this.fail('the stream cannot be read'));
        this.pump();
      },
      { once: true },
    );
    this.video.src = url;
    this.resume();
  }

  private pump(): void {
    const { buffer } = this;
    const part = this.waiting[0];
    if (!buffer || buffer.updating || !part || this.source?.readyState !== 'open') return;
    try {
      if ('init' in part) {
        this.timeline.begin(part.timescale, part.fps);
        this.events.onEpoch(this.timeline.edge);
        append(buffer, part.init);
      } else {
        const { edge } = this.timeline;
        const offset = part.times && this.timeline.place(part.times);
        if (offset !== undefined) buffer.timestampOffset = offset;
        append(buffer, part.media);
        if (part.keyframe) this.keyframes.push(edge);
        this.waitingBytes -= part.media.length;
        this.appended = true;
      }
      this.waiting.shift();
    } catch (error) {
      this.onRefused(error);
    }
  }

  /** Full: all behind the playhead goes, and what waits with it, until the next keyframe. */
  private onRefused(error: unknown): void {
    if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) {
      this.fail(String(error));
      return;
    }
    this.skip();
    this.timeline.retreat(this.ranges().at(-1)?.[1] ?? this.video.currentTime);
    const first = this.ranges()[0];
    if (first && first[0] < this.video.currentTime - 0.1) this.buffer?.remove(0, this.video.currentTime - 0.1);
  }

  private onUpdated(): void {
    if (this.appended) {
      this.appended = false;
      this.steer();
      const past = evictable(this.video.currentTime, this.ranges(), this.keyframes, this.timeline.frameDuration);
      if (past) {
        this.keyframes = this.keyframes.filter((at) => at >= past[1]);
        this.buffer?.remove(...past);
        return;
      }
    }
    this.pump();
  }

  private steer(): void {
    const { video } = this;
    const ranges = this.ranges();
    const action = steer({
      time: video.currentTime,
      ranges,
      keyframe: this.keyframes.at(-1),
      frame: this.timeline.frameDuration,
    });
    if ('rate' in action) {
      video.playbackRate = action.rate;
      if (action.wantsKeyframe) this.askForKeyframe();
    } else if (this.maySeek(ranges)) {
      video.currentTime = action.seek;
    } else {
      video.playbackRate = kFastest;
    }
    if (video.paused && !document.hidden) this.resume();
  }

  /**
   * Outside of all ranges there is no other way on. Within one, WebKit loses a seek where nothing is shown yet. There need
   * be no pause between two: each that catches up takes a keyframe that no other took.
   */
  private maySeek(ranges: [number, number][]): boolean {
    const { currentTime, readyState, seeking } = this.video;
    if (seeking) return false;
    return readyState >= HTMLMediaElement.HAVE_CURRENT_DATA || !ranges.some(([begin, end]) => currentTime >= begin && currentTime <= end);
  }

  private askForKeyframe(): void {
    const now = performance.now();
    // Before anything is shown it is the browser that starts slowly.
    if (now < this.lastAsked + kAskPause || this.video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    this.lastAsked = now;
    this.events.onStarved();
  }

  private setWanted(source: MediaSource, wanted: boolean): void {
    if (source !== this.source || wanted === this.wanted) return;
    this.wanted = wanted;
    this.leaveOut();
    this.events.onWanted();
  }

  private ranges(): [number, number][] {
    const { buffered } = this.video;
    return Array.from({ length: buffered.length }, (_, i) => [buffered.start(i), buffered.end(i)]);
  }

  private drop(): void {
    this.waiting = [];
    this.waitingBytes = 0;
    this.needsKeyframe = true;
  }

  /** Frames that wait are left out; an init segment among them is not. */
  private skip(): void {
    this.leaveOut();
    this.events.onStarved();
  }

  private leaveOut(): void {
    const inits = this.waiting.filter((part) => 'init' in part);
    this.drop();
    this.waiting = inits;
    this.timeline.interrupt();
  }

  private fail(why: string): void {
    if (!this.source) return;
    this.drop();
    this.source = undefined;
    this.buffer = undefined;
    this.wanted = true;
    this.events.onBroken(why);
  }
}
