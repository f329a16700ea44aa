// What a person chooses: run, mode, and how values become levels.
import { html, type TemplateResult } from 'lit';

import { RunState } from '../gen/phosphene_pb';
import { kModes, kOptions, type Option } from '../view';
import { Part } from './part';

const kStateWords: Readonly<Record<number, string>> = {
  [RunState.PAUSED]: ' · paused',
  [RunState.ENDED]: ' · ended',
  [RunState.CRASHED]: ' · crashed',
};

export class RunPicker extends Part {
  protected override render(): TemplateResult {
    const { session } = this;
    const asked = session.view['run'] ?? '';
    const known = !asked || session.runs.some(({ id }) => id === asked);
    const newest = session.runs[0];
    return html`<label class="choice">
      <span>run</span>
      <select @change=${(event: Event) => session.set('run', (event.target as HTMLSelectElement).value)}>
        <option value="" ?selected=${!asked}>${newest ? `newest: ${newest.name}${kStateWords[newest.state] ?? ''}` : 'newest'}</option>
        ${session.runs.map(
          ({ id, name, state }) =>
            html`<option value=${id} ?selected=${id === asked}>${name}${kStateWords[state] ?? ''}</option>`,
        )}
        ${known ? '' : html`<option value=${asked} selected>${session.run?.name ?? `${asked} (not here)`}</option>`}
      </select>
    </label>`;
  }
}

export class ModeSelector extends Part {
  protected override render(): TemplateResult {
    const { session } = this;
    const modes = kModes.filter(({ value }) => value !== 'frames' || session.has('frames') || session.mode === 'frames');
    return html`<div role="radiogroup" aria-label="Mode" class="segments">
      ${modes.map(
        ({ value, label, hint }) => html`<label title=${hint ?? ''}>
          <input
            type="radio"
            name="mode"
            value=${value}
            .checked=${value === session.mode}
            ?disabled=${!session.has(value) && value !== session.mode}
            @change=${() => session.set('mode', value)}
          /><span>${label}</span>
        </label>`,
      )}
    </div>`;
  }
}

const kOptionLabels: Readonly<Record<Option, string>> = {
  scope: 'range of',
  range: 'over time',
  shape: 'scale',
  pooling: 'pooling',
  quality: 'quality',
};

export class ScalingOptions extends Part {
  protected override render(): TemplateResult {
    return html`${(['scope', 'range', 'shape', 'pooling', 'quality'] as const).map((key) => this.option(key))}`;
  }

  private option(key: Option): TemplateResult {
    const { session } = this;
    const choices = kOptions[key];
    const value = session.view[key] ?? choices[0]!.value;
    // A fixed range comes from the URL alone: range=-1,1.
    const all = choices.some((choice) => choice.value === value) ? choices : [...choices, { value, label: `fixed ${value}` }];
    return html`<label class="choice" title=${all.find((choice) => choice.value === value)?.hint ?? ''}>
      <span>${kOptionLabels[key]}</span>
      <select @change=${(event: Event) => session.set(key, (event.target as HTMLSelectElement).value)}>
        ${all.map((choice) => html`<option value=${choice.value} ?selected=${choice.value === value}>${choice.label}</option>`)}
      </select>
    </label>`;
  }
}

customElements.define('phosphene-run', RunPicker);
customElements.define('phosphene-mode', ModeSelector);
customElements.define('phosphene-scaling', ScalingOptions);
