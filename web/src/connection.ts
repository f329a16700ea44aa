// The WebSocket to the server: opens, opens again after it was lost, and says where it stands.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';

import { type FromPage, FromPageSchema, type ToPage, ToPageSchema } from './gen/phosphene_pb';

export type Link = 'connecting' | 'open' | 'lost' | 'refused';

const kFirstDelay = 250; // ms
const kLastDelay = 3000;

/** Milliseconds before attempt 1, 2, 3 … after a connection was lost. */
export function delayOf(attempt: number): number {
  return Math.min(kLastDelay, kFirstDelay * 2 ** (attempt - 1));
}

export interface ConnectionEvents {
  onLink(link: Link): void;
  onMessage(message: ToPage['message']): void;
}

export class Connection {
  private socket: WebSocket | undefined;
  private attempt = 0;
  private timer = 0;

  /** `base` is the folder that the page is served from; `token` is empty where a cookie holds it. */
  constructor(
    private readonly base: URL,
    private readonly token: string,
    private readonly events: ConnectionEvents,
  ) {}

  open(): void {
    const url = this.url('ws');
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.attempt = 0;
      this.events.onLink('open');
    };
    socket.onmessage = ({ data }) => {
      if (socket === this.socket && data instanceof ArrayBuffer) this.receive(new Uint8Array(data));
    };
    socket.onclose = () => {
      if (socket === this.socket) void this.lost(wasOpen);
    };
  }

  /** What cannot be sent now is not kept: the whole view is sent anew when the connection is there again. */
  send(message: FromPage['message']): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(toBinary(FromPageSchema, create(FromPageSchema, { message })));
  }

  /** Begins anew at once: the server tells everything again. */
  reopen(): void {
    clearTimeout(this.timer);
    const old = this.socket;
    this.socket = undefined;
    old?.close();
    this.open();
  }

  private url(path: string): URL {
    const url = new URL(path, this.base);
    if (this.token) url.searchParams.set('token', this.token);
    return url;
  }

  private receive(bytes: Uint8Array): void {
    let message: ToPage['message'];
    try {
      message = fromBinary(ToPageSchema, bytes).message;
    } catch {
      console.warn(`phosphene: a message of ${bytes.length} bytes could not be read`);
      return;
    }
    this.events.onMessage(message);
  }

  private async lost(wasOpen: boolean): Promise<void> {
    this.socket = undefined;
    const attempt = ++this.attempt;
    this.timer = window.setTimeout(() => this.open(), delayOf(attempt));
    if (wasOpen) this.events.onLink('lost'); // whatever else, and however long the answer takes
    const refused = await this.isRefused();
    // An answer that took longer than the next attempt is old news: the connection may be there again.
    if (attempt === this.attempt && (refused || !wasOpen)) this.events.onLink(refused ? 'refused' : 'lost');
  }

  /** A WebSocket does not say why it was not let in; a plain request does. */
  private async isRefused(): Promise<boolean> {
    try {
      const { status } = await fetch(this.url('api/runs'), { cache: 'no-store' });
      return status === 401 || status === 403;
    } catch {
      return false;
    }
  }
}
