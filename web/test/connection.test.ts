import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Connection, delayOf, type Link } from '../src/connection';

class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = 0;
  onopen?: () => void;
  onclose?: () => void;
  constructor() {
    FakeSocket.all.push(this);
  }
  open(): void {
    this.readyState = 1;
    this.onopen!();
  }
  lose(): void {
    this.readyState = 3;
    this.onclose!();
  }
  close(): void {}
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe('the connection', () => {
  let links: Link[];
  let answers: ((status: number) => void)[];

  const connect = (): FakeSocket => {
    new Connection(new URL('http://localhost/'), '', { onLink: (link) => links.push(link), onMessage: () => {} }).open();
    return FakeSocket.all[0]!;
  };

  beforeEach(() => {
    vi.useFakeTimers();
    links = [];
    answers = [];
    FakeSocket.all = [];
    vi.stubGlobal('WebSocket', FakeSocket);
    vi.stubGlobal('window', globalThis);
    vi.stubGlobal('fetch', () => new Promise((resolve) => answers.push((status) => resolve({ status }))));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('lost, it says so and opens again', async () => {
    const socket = connect();
    socket.open();
    socket.lose();
    expect(links).toEqual(['open', 'lost']); // at once
    answers[0]!(200);
    await settle();
    await vi.advanceTimersByTimeAsync(delayOf(1));
    FakeSocket.all[1]!.open();
    expect(links).toEqual(['open', 'lost', 'open']);
  });

  test('not let in is told from not there', async () => {
    connect().lose();
    answers[0]!(403);
    await settle();
    expect(links).toEqual(['refused']);
  });

  test('what is asked about a lost connection and answered late does not undo the next one', async () => {
    const socket = connect();
    socket.open();
    socket.lose();
    await vi.advanceTimersByTimeAsync(delayOf(1));
    FakeSocket.all[1]!.open();
    answers[0]!(200);
    await settle();
    expect(links.at(-1)).toBe('open');
  });

  test('a question about an older loss says nothing about a newer one', async () => {
    connect().lose();
    await vi.advanceTimersByTimeAsync(delayOf(1));
    FakeSocket.all[1]!.lose();
    answers[1]!(403);
    answers[0]!(200);
    await settle();
    expect(links).toEqual(['refused']);
  });
});
