// What the page knows: the view, the runs, the channel that is shown. The server tells all; the page keeps no other state.
import { Connection, type Link } from './connection';
import { type ChannelStart, Kind, type Layout, type RunInfo, type ToPage } from './gen/phosphene_pb';
import { Painter, type Painted } from './media/painter';
import { canPlay, Player } from './media/player';
import { factsOf } from './media/sei';
import { FactsStore, type TensorKnown } from './picture/facts_store';
import { type Mark, levelOf, markOf } from './picture/level';
import { type Elements, elementsAt, hit, type Hit } from './picture/mapping';
import { Pulse } from './pulse';
import { ScalarStore } from './scalars';
import { type Status, statusOf } from './status';
import { fitOf, formatView, parseView, type Query, withKey } from './view';

const kMostNotices = 20;
const kRetryBroken = 1000; // ms

const kKindOfMode: Readonly<Record<string, Kind>> = {
  parameters: Kind.PARAMETER,
  gradients: Kind.GRADIENT,
  activations: Kind.ACTIVATION,
  frames: Kind.FRAME,
};

/** A channel as announced, with what its frames said. */
interface Channel {
  start: ChannelStart;
  layout: Layout;
  facts: FactsStore;
  time: number; // media time of its first frame
}

/** What a pixel of the frame that is shown says. */
export interface Reading {
  hit: Hit;
  elements: Elements;
  level: number;
  mark: Mark;
  known: TensorKnown | undefined;
  isAbsent: boolean; // the tensor has no such element now
  step: number | undefined;
}

/**
 * Events: `change` when anything but the picture changed, `paint` at each frame, `point` when the pointer or the
 * highlighted tensor changed, `tick` once a second.
 */
export class Session extends EventTarget {
  view: Query;
  runs: RunInfo[] = [];
  notices: string[] = [];
  pointer: { x: number; y: number } | undefined; // pixel of the canvas
  highlighted: number | undefined;               // tensor
  painted: Painted | undefined;
  paints: number[] = []; // when the frames of the last second were painted, ms

  private link: Link = 'connecting';
  private everOpen = false;
  private playable = canPlay();
  private blocked = false;
  private silent = false;
  private stop: string | undefined;
  private shown: Channel | undefined;
  private isStale = false; // what is shown is the last picture of what has ended
  private coming: Channel | undefined;
  private sent = '';
  private fit = '';
  private readonly curves = new Map<string, ScalarStore>();
  private readonly connection: Connection;
  private readonly pulse: Pulse;
  private readonly player: Player;
  private readonly painter: Painter;

  constructor(video: HTMLVideoElement, canvas: HTMLCanvasElement) {
    super();
    const here = new URL(location.href);
    const token = here.searchParams.get('token') ?? '';
    this.view = parseView(here.search);
    here.searchParams.delete('token'); // a cookie holds it from now on; a URL that is passed on need not
    history.replaceState(null, '', here.pathname + formatView(this.view, here.search) + here.hash);

    this.player = new Player(video, {
      onEpoch: (time) => {
        if (this.coming) this.coming.time = time;
      },
      onBlocked: (blocked) => {
        if (blocked !== this.blocked) {
          this.blocked = blocked;
          this.changed();
        }
      },
      onStarved: () => this.isVisible && this.sendVisibility(), // said again: the server begins anew, at a keyframe
      onWanted: () => this.sendVisibility(),
      onBroken: (why) => {
        this.stop = why;
        this.changed();
        setTimeout(() => this.connection.reopen(), kRetryBroken);
      },
    });
    this.painter = new Painter(video, canvas, (painted) => this.onPaint(painted));
    this.connection = new Connection(new URL('./', document.baseURI), token, {
      onLink: (link) => this.onLink(link),
      onMessage: (message) => this.onMessage(message),
    });
    this.pulse = new Pulse({
      ping: (timeMs, fragments) =>
        this.connection.send({ case: 'ping', value: { $typeName: 'phosphene.v1.Ping', timeMs, fragments: BigInt(fragments) } }),
      onSilent: (silent) => {
        this.silent = silent;
        this.changed();
      },
      onGone: () => this.connection.reopen(),
    });
    setInterval(() => {
      this.pulse.tick(performance.now());
      this.dispatchEvent(new Event('tick'));
    }, 1000);
    document.addEventListener('visibilitychange', () => {
      this.sendVisibility();
      if (!document.hidden) this.player.resume();
    });
    document.addEventListener('pointerdown', () => this.blocked && this.player.resume());
    document.addEventListener('keydown', () => this.blocked && this.player.resume());
    window.addEventListener('popstate', () => {
      this.view = parseView(location.search);
      this.sendView();
      this.changed();
    });
    if (this.playable) this.connection.open();
  }

  // ---------------------------------------------------------------- what is

  /** The mode that is asked for: as chosen, else the first that the run has. */
  get mode(): string {
    const { mode } = this.view;
    if (mode) return mode;
    const kinds = this.run?.kinds ?? [];
    if (kinds.length === 0 || kinds.includes(Kind.PARAMETER)) return 'parameters';
    return Object.keys(kKindOfMode).find((key) => kinds.includes(kKindOfMode[key]!)) ?? 'parameters';
  }

  /** Whether the run can show a mode. All modes, as long as nobody knows. */
  has(mode: string): boolean {
    const kind = kKindOfMode[mode];
    const kinds = this.run?.kinds ?? [];
    return kind === undefined || (kinds.length === 0 ? mode !== 'frames' : kinds.includes(kind));
  }

  /** The run that the view asks for. */
  get run(): RunInfo | undefined {
    const asked = this.view['run'];
    return asked ? this.runs.find(({ id }) => id === asked) ?? this.runs.find(({ name }) => name === asked) : this.runs[0];
  }

  get layout(): Layout | undefined {
    return this.shown?.layout;
  }

  /** Step of the frame that is shown. */
  get step(): number | undefined {
    const facts = this.shown?.facts.frame(this.painted?.number);
    return facts && Number(facts.step);
  }

  /** Seconds between what is shown and the newest frame that is here. */
  get lag(): number {
    return this.player.lag;
  }

  /** Seconds since what is shown left the server. */
  get behind(): number {
    return this.player.lag + this.pulse.age(1 / (this.shown?.start.fps || 30), performance.now());
  }

  get scalars(): ScalarStore | undefined {
    return this.run && this.curves.get(this.run.id);
  }

  get status(): Status {
    return statusOf({
      link: this.link,
      everOpen: this.everOpen,
      playable: this.playable,
      mode: this.mode,
      runs: this.runs.length,
      run: this.run,
      stop: this.stop,
      picture: !!this.shown && (!this.isStale || this.stop !== undefined),
      blocked: this.blocked,
      silent: this.silent,
      behind: this.behind,
      notice: this.notices.at(-1),
    });
  }

  known(tensor: number): TensorKnown | undefined {
    return this.shown?.facts.tensor(this.painted?.number, tensor);
  }

  /** What the pixel under the pointer says. */
  read(): Reading | undefined {
    const { layout, pointer } = this;
    const at = layout && pointer && hit(layout, pointer.x, pointer.y);
    if (!at || !pointer) return undefined;
    const [red, , blue] = this.painter.pixel(pointer.x, pointer.y);
    const known = this.known(at.section.tensor);
    return {
      hit: at,
      elements: elementsAt(at),
      level: Math.min(15, levelOf(blue)),
      mark: markOf(red, blue),
      known,
      isAbsent: isIn(known?.absentX, at.cellX) || isIn(known?.absentY, at.cellY),
      step: known?.step ?? this.step,
    };
  }

  // ---------------------------------------------------------------- what a person does

  /** Changes one key of the view: here, in the URL and at the server. */
  set(key: string, value: string): void {
    this.view = withKey(this.view, key, value);
    history.replaceState(null, '', location.pathname + formatView(this.view, location.search) + location.hash);
    this.sendView();
    this.changed();
  }

  /** The room that the picture has, in CSS pixels. */
  setArea(width: number, height: number): void {
    this.fit = fitOf(width, height, window.devicePixelRatio);
    this.sendView();
  }

  point(pointer: { x: number; y: number } | undefined): void {
    this.pointer = pointer;
    this.dispatchEvent(new Event('point'));
  }

  highlight(tensor: number | undefined): void {
    this.highlighted = tensor;
    this.dispatchEvent(new Event('point'));
  }

  play(): void {
    this.player.resume();
  }

  // ---------------------------------------------------------------- for tests and the curious (debug.ts)

  frame(): { number: number; step: number; width: number; height: number } | undefined {
    const number = this.painter.number();
    const facts = this.shown?.facts.frame(number);
    if (number === undefined || !facts || !this.painted) return undefined;
    return { number, step: Number(facts.step), width: this.painted.width, height: this.painted.height };
  }

  levels(): Uint8Array {
    return this.painter.levels();
  }

  facts(number: number): ReturnType<FactsStore['frame']> {
    return this.shown?.facts.frame(number);
  }

  // ---------------------------------------------------------------- what the server says

  private changed(): void {
    this.dispatchEvent(new Event('change'));
  }

  private onLink(link: Link): void {
    this.link = link;
    if (link !== 'open') {
      this.isStale = true;
      this.pulse.stop();
    }
    if (link === 'open') {
      this.pulse.start(performance.now());
      this.everOpen = true;
      this.sent = '';
      this.sendView();
      if (!this.isVisible) this.sendVisibility();
    }
    this.changed();
  }

  private sendView(): void {
    if (this.link !== 'open') return;
    const query: Record<string, string> = { ...this.view, mode: this.mode };
    if (!query['size'] && !query['fit']) {
      if (!this.fit) return; // the room is not measured yet
      query['fit'] = this.fit;
    }
    const text = formatView(query);
    if (text === this.sent) return;
    this.sent = text;
    this.connection.send({ case: 'view', value: { $typeName: 'phosphene.v1.View', query } });
  }

  private get isVisible(): boolean {
    return !document.hidden && this.player.isWanted;
  }

  private sendVisibility(): void {
    this.connection.send({ case: 'visibility', value: { $typeName: 'phosphene.v1.Visibility', visible: this.isVisible } });
  }

  private onMessage(message: ToPage['message']): void {
    this.pulse.hear(performance.now());
    switch (message.case) {
      case 'runs':
        this.runs = message.value.runs;
        this.forgetCurves();
        this.sendView(); // the mode may follow from what the run has
        break;
      case 'start':
        this.onStart(message.value);
        break;
      case 'fragment': {
        this.pulse.onFragment(message.value.data.length, performance.now());
        const channel = this.coming ?? this.shown;
        if (channel?.start.epoch !== message.value.epoch) return;
        const { data, keyframe } = message.value;
        const facts = factsOf(data);
        if (facts) channel.facts.add(facts);
        this.player.add(data, keyframe);
        return;
      }
      case 'stop':
        this.onStop(message.value.why);
        break;
      case 'scalars': {
        const curves = this.curves.get(message.value.run) ?? new ScalarStore();
        this.curves.set(message.value.run, curves);
        curves.add(message.value);
        break;
      }
      case 'notice':
        this.notices = [...this.notices.filter((text) => text !== message.value.text), message.value.text].slice(-kMostNotices);
        break;
      case 'pong':
        this.pulse.onPong(message.value.timeMs, performance.now());
        return;
      case 'welcome':
      case undefined:
        return;
    }
    this.changed();
  }

  /** The last picture of a run that is over stays. */
  private get isOver(): boolean {
    const state = this.status.text;
    return state === 'ended' || state === 'crashed';
  }

  private onStop(why: string): void {
    this.coming = undefined;
    this.isStale = true;
    if (why === 'hidden') return; // we said so; the picture waits
    // `off` was asked for here, and is no fault. The picture goes at the server's word and not before: from a mode to off
    // and back within its patience, it may never leave the channel.
    this.stop = why === 'off' ? undefined : why;
    if (why === 'off' || !this.isOver) this.shown = undefined;
  }

  private onStart(start: ChannelStart): void {
    this.stop = undefined;
    if (!start.layout) return;
    this.playable = canPlay(start.mime);
    if (!this.playable) return;
    this.coming = { start, layout: start.layout, facts: new FactsStore(), time: Infinity };
    this.player.begin(start.mime, start.init, start.fps);
  }

  private onPaint(painted: Painted): void {
    this.painted = painted;
    const now = performance.now();
    this.paints = [...this.paints.filter((time) => time > now - 1000), now];
    const { coming } = this;
    if (coming && belongs(painted, coming)) {
      this.shown = coming;
      this.coming = undefined;
      this.isStale = false;
      this.changed();
    }
    this.dispatchEvent(new Event('paint'));
  }

  private forgetCurves(): void {
    for (const run of this.curves.keys()) if (!this.runs.some(({ id }) => id === run)) this.curves.delete(run);
  }
}

/** Whether a number lies in one of the runs: begin, length, begin, … */
function isIn(runs: readonly number[] = [], at: number): boolean {
  return runs.some((begin, i) => i % 2 === 0 && at >= begin && at < begin + runs[i + 1]!);
}

/** Whether a frame is already one of the channel to come: the last of the old one may be shown for a moment. */
function belongs({ width, height, mediaTime, number }: Painted, { layout, start, facts, time }: Channel): boolean {
  if (width !== layout.width || height !== layout.height) return false;
  if (mediaTime < time - 0.5 / (start.fps || 30)) return false;
  return number === undefined || !!facts.frame(number);
}
