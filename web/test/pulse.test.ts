import { beforeEach, describe, expect, test } from 'vitest';

import { Pulse } from '../src/pulse';

describe('pulse', () => {
  let said: string[];
  let pulse: Pulse;
  const run = (from: number, to: number): void => {
    for (let now = from; now <= to; now += 1000) pulse.tick(now);
  };
  beforeEach(() => {
    said = [];
    pulse = new Pulse({
      ping: (time, fragments) => said.push(`ping ${time} ${fragments}`),
      onSilent: (silent) => said.push(silent ? 'silent' : 'heard'),
      onGone: () => said.push('gone'),
    });
  });

  test('says how many fragments came, four times a second while they come', () => {
    pulse.start(0);
    for (let now = 10; now <= 600; now += 10) pulse.onFragment(1000, now);
    expect(said).toEqual(['ping 0 0', 'ping 250 25', 'ping 500 50']);
  });

  test('one fragment now and then is acknowledged at once', () => {
    pulse.start(0);
    pulse.onFragment(1000, 5000);
    expect(said.at(-1)).toBe('ping 5000 1');
  });

  test('a large one, too', () => {
    pulse.start(0);
    pulse.onFragment(1000, 1);
    pulse.onFragment(200_000, 2);
    expect(said.at(-1)).toBe('ping 2 2');
  });

  test('a server that falls silent is said to be, then given up', () => {
    pulse.start(0);
    run(1000, 3000);
    expect(said).not.toContain('silent');
    run(4000, 10_000);
    expect(said.filter((word) => !word.startsWith('ping'))).toEqual(['silent']);
    run(11_000, 11_000);
    expect(said.at(-1)).toBe('gone');
  });

  test('is heard again', () => {
    pulse.start(0);
    run(1000, 5000);
    pulse.hear(5500);
    expect(said.at(-1)).toBe('heard');
    run(6000, 8000);
    expect(said.filter((word) => word === 'silent')).toHaveLength(1);
  });

  test('case_38: after sleep the server has its whole time to answer', () => {
    pulse.start(0);
    run(1000, 2000);
    run(3_600_000, 3_603_000);
    expect(said).not.toContain('silent');
    run(3_604_000, 3_604_000);
    expect(said.at(-1)).toBe('silent');
  });

  test('the way is as long as the pong took; a new connection begins anew', () => {
    pulse.start(0);
    pulse.onPong(0, 120);
    expect(pulse.delay(200)).toBeCloseTo(0.12);
    pulse.onFragment(1000, 300);
    expect(pulse.delay(350)).toBeCloseTo(0.12);
    expect(pulse.delay(2300)).toBeCloseTo(2);
    pulse.start(5000);
    expect(pulse.delay(5000)).toBe(0);
    expect(said.at(-1)).toBe('ping 5000 0');
  });

  test('a picture is as old as its way and the wait for the next', () => {
    pulse.start(0);
    pulse.onPong(0, 50);
    pulse.onFragment(1000, 1000);
    expect(pulse.age(0.1, 1050)).toBeCloseTo(0.05);
    expect(pulse.age(0.1, 3000)).toBeCloseTo(1.95);
    pulse.onFragment(900_000, 4000); // the ping of 1000 is still not answered
    expect(pulse.age(0.1, 4000)).toBeCloseTo(3);
  });

  test('without a connection nothing is said', () => {
    pulse.start(0);
    pulse.stop();
    said = [];
    run(1000, 20_000);
    expect(said).toEqual([]);
  });
});
