// The state of the page in words.
import { type RunInfo, RunState } from './gen/phosphene_pb';
import { type Link } from './connection';

export interface Situation {
  link: Link;
  everOpen: boolean;          // was connected before
  playable: boolean;          // the browser has MSE and H.264
  mode: string;
  runs: number;
  run: RunInfo | undefined;   // that is shown
  stop: string | undefined;   // why there is no picture, as the server says it
  picture: boolean;           // frames are shown
  notice: string | undefined; // the newest
  blocked: boolean;           // the browser wants a click before it plays
  silent: boolean;            // the connection is open, and nothing comes
  behind: number;             // seconds since what is shown left the server
}

export type Tone = 'live' | 'calm' | 'warning' | 'error';

export interface Status {
  tone: Tone;
  text: string;   // one or a few words
  detail: string; // what it means or what to do; may be empty
}

const kBehind = 1.5; // seconds
const kStart = 'Start a program that has a phosphene hook, or run “phosphene demo”.';

export function statusOf(s: Situation): Status {
  if (!s.playable) {
    return {
      tone: 'error',
      text: 'no H.264 here',
      detail: 'This browser cannot play H.264 video through Media Source Extensions: use one that can, or install its codecs.',
    };
  }
  switch (s.link) {
    case 'refused':
      return {
        tone: 'error',
        text: 'not let in',
        detail: 'The server does not know this page’s token: open the URL that it printed when it started.',
      };
    case 'lost':
      return s.everOpen
        ? { tone: 'warning', text: 'reconnecting', detail: 'The server is gone; the page comes back with it.' }
        : { tone: 'warning', text: 'no server', detail: 'Nothing answers there yet; trying again.' };
    case 'connecting':
      return { tone: 'calm', text: 'connecting', detail: '' };
    case 'open':
      break;
  }
  if (s.silent) {
    return { tone: 'warning', text: 'no answer', detail: 'The server has fallen silent: stopped, or cut off. What is shown is from before.' };
  }
  if (s.mode === 'off') {
    return { tone: 'calm', text: 'off', detail: 'Nothing is read from the network. Choose a mode to watch it.' };
  }
  if (s.runs === 0) return { tone: 'calm', text: 'waiting for a run', detail: kStart };
  if (s.run?.state === RunState.CRASHED) {
    return {
      tone: 'error',
      text: 'crashed',
      detail: `${s.run.name} broke off without saying goodbye${s.picture ? '; this is its last picture' : ''}.`,
    };
  }
  if (s.run?.state === RunState.ENDED) {
    return { tone: 'calm', text: 'ended', detail: `${s.run.name} is over${s.picture ? '; this is its last picture' : ''}.` };
  }
  if (s.stop !== undefined) return { tone: 'warning', text: 'no picture', detail: sentence(s.stop) };
  if (s.blocked) return { tone: 'warning', text: 'click to play', detail: 'The browser wants a click before it plays.' };
  if (s.run?.state === RunState.PAUSED) {
    return { tone: 'warning', text: 'training paused', detail: 'No step came for a while; the picture is the last one.' };
  }
  if (!s.picture) return { tone: 'calm', text: 'waiting for a picture', detail: s.notice ? sentence(s.notice) : '' };
  if (s.behind > kBehind) {
    return {
      tone: 'warning',
      text: `${Math.round(s.behind)} s behind`,
      detail: 'The way from the server is too slow for this picture: choose quality “smooth”, or a smaller window.',
    };
  }
  return { tone: 'live', text: 'live', detail: '' };
}

/** As the server says it, as a sentence. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
