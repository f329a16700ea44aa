// What the parts of the page have in common: they show one session, and live in the page itself (no shadow trees), so that
// one style sheet, one outline and one set of labels hold for all.
import { LitElement, type PropertyDeclarations } from 'lit';

import { type Session } from '../session';

export abstract class Part extends LitElement {
  static override properties: PropertyDeclarations = { session: { attribute: false } };
  declare session: Session;

  /** Events of the session after which to draw anew, and how often at most, in ms. */
  protected readonly follows: Readonly<Record<string, number>> = { change: 0 };

  private readonly listeners = new Map<string, () => void>();

  protected override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const [event, pause] of Object.entries(this.follows)) {
      const listener = pause ? seldom(pause, () => this.requestUpdate()) : () => this.requestUpdate();
      this.listeners.set(event, listener);
      this.session.addEventListener(event, listener);
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const [event, listener] of this.listeners) this.session.removeEventListener(event, listener);
    this.listeners.clear();
  }
}

/** Calls `action` soon after each call, but no more often than every `pause` ms; the last call is never lost. */
export function seldom(pause: number, action: () => void): () => void {
  let timer = 0;
  let last = -Infinity;
  return () => {
    if (timer) return;
    timer = window.setTimeout(
      () => {
        timer = 0;
        last = performance.now();
        action();
      },
      Math.max(0, last + pause - performance.now()),
    );
  };
}
