// How far training is, how the picture keeps up, what the hook costs.
import { html, type TemplateResult } from 'lit';

import { Part } from './part';
import { formatCount, formatShare } from './words';

export class Numbers extends Part {
  protected override readonly follows = { change: 0, paint: 200, tick: 0 };

  protected override render(): TemplateResult {
    const { session } = this;
    const progress = session.run?.progress;
    const step = session.step ?? (progress && Number(progress.step));
    const cost = progress && (progress.costUsPerStep * progress.stepsPerSecond) / 1e6;
    const dropped = progress && Number(progress.framesDroppedQueue + progress.framesDroppedBudget);
    const live = session.layout !== undefined && session.status.tone === 'live'; // else a picture is repeated, and these tell nothing
    return html`
      ${step === undefined ? '' : number('step', formatCount(step), 'Training step of the picture that is shown')}
      ${live ? number('fps', String(session.paints.filter((time) => time > performance.now() - 1000).length), 'Frames shown in the last second') : ''}
      ${live ? number('ms behind', formatCount(Math.round(session.behind * 1000)), 'Since what is shown left the server: the way here, and what the player keeps in hand') : ''}
      ${cost ? number('hook', formatShare(cost), 'Part of the training thread’s time that the hook takes') : ''}
      ${dropped ? number('dropped', formatCount(dropped), 'Frames that the hook left out, so as not to slow training down') : ''}
      ${progress && progress.stepsPerSecond > 0
        ? number('steps/s', progress.stepsPerSecond >= 10 ? formatCount(progress.stepsPerSecond) : progress.stepsPerSecond.toPrecision(2), 'Training steps a second')
        : ''}
    `;
  }
}

function number(name: string, value: string, title: string): TemplateResult {
  return html`<div class="number" title=${title}><span>${name}</span> <b>${value}</b></div>`;
}

customElements.define('phosphene-numbers', Numbers);

export class StatusLight extends Part {
  protected override readonly follows = { change: 0, tick: 0 };

  protected override render(): TemplateResult {
    const { tone, text, detail } = this.session.status;
    return html`<div role="status" class="status ${tone}" title=${detail}><i aria-hidden="true"></i>${text}</div>`;
  }
}

customElements.define('phosphene-status', StatusLight);
