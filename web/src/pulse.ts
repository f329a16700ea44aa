// Whether the server is there, and how long the way from it takes. A connection that is cut without a word, or a server
// that was stopped, looks like one that has nothing to say.

const kBetweenPings = 250;       // ms, while fragments come
const kBytesAPing = 128 * 1024;  // or sooner: the server lets little more be on its way to who does not answer
const kWhenIdle = 1000;          // ms
const kMostUnanswered = 256;     // pings that are remembered
const kSilence = 3000;     // ms without a word before we say so
const kGone = 10_000;      // ms before the connection is made anew

export interface PulseEvents {
  ping(time: number, fragments: number): void;
  /** The server has fallen silent, or is heard again. */
  onSilent(silent: boolean): void;
  /** It is no use to wait any longer. */
  onGone(): void;
}

/** Times are ms of one clock. */
export class Pulse {
  private open = false;
  private silent = false;
  private fragments = 0;
  private bytes = 0; // since the last ping
  private last = 0;  // pong took, ms
  private unanswered: number[] = [];
  private came = 0;    // when the latest fragment did
  private transit = 0; // how long it had been on its way, s
  private pinged = 0;
  private heard = 0;
  private ticked = 0;

  constructor(private readonly events: PulseEvents) {}

  /** A connection begins. */
  start(now: number): void {
    this.open = true;
    this.fragments = 0;
    this.last = this.transit = 0;
    this.came = now;
    this.unanswered = [];
    this.heard = this.ticked = now;
    this.setSilent(false);
    this.ping(now);
  }

  /** It is over, and said so. */
  stop(): void {
    this.open = false;
    this.setSilent(false);
  }

  /** Anything came. */
  hear(now: number): void {
    this.heard = now;
    this.setSilent(false);
  }

  onFragment(bytes: number, now: number): void {
    ++this.fragments;
    this.bytes += bytes;
    this.came = now;
    this.transit = this.delay(now);
    if (now >= this.pinged + kBetweenPings || this.bytes >= kBytesAPing) this.ping(now);
  }

  onPong(time: number, now: number): void {
    this.last = Math.max(0, now - time);
    this.unanswered = this.unanswered.filter((sent) => sent > time);
  }

  /** Seconds that a ping takes to the server and its answer back to here, behind all that comes before it. */
  delay(now: number): number {
    return Math.max(this.last, now - (this.unanswered[0] ?? now)) / 1000;
  }

  /** Seconds since the newest picture that is here left the server, where one follows another after `frame` seconds. */
  age(frame: number, now: number): number {
    return this.transit + Math.max(0, (now - this.came) / 1000 - frame);
  }

  /** To be called about once a second. */
  tick(now: number): void {
    if (!this.open) return;
    // Who slept cannot tell who was silent.
    if (now - this.ticked > 2 * kWhenIdle) this.heard = now;
    this.ticked = now;
    if (now >= this.pinged + kWhenIdle) this.ping(now);
    if (now - this.heard > kGone) {
      this.heard = now;
      this.events.onGone();
    } else if (now - this.heard > kSilence) {
      this.setSilent(true);
    }
  }

  private ping(now: number): void {
    this.pinged = now;
    this.bytes = 0;
    if (this.unanswered.length < kMostUnanswered) this.unanswered.push(now);
    this.events.ping(now, this.fragments);
  }

  private setSilent(silent: boolean): void {
    if (silent === this.silent) return;
    this.silent = silent;
    this.events.onSilent(silent);
  }
}
