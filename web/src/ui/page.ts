// The page: bars, lists and panels around the picture.
import { html, LitElement, type TemplateResult } from 'lit';

import { type Session } from '../session';
import './chart';
import './controls';
import './inspector';
import './numbers';
import { type Stage } from './stage';
import './stage';
import './tensors';

export class Page extends LitElement {
  static override properties = { session: { state: true }, open: { state: true } };
  declare session: Session | undefined;
  declare open: '' | 'tensors' | 'inspector'; // which panel is open where there is no room for both

  constructor() {
    super();
    this.open = '';
  }

  protected override createRenderRoot(): this {
    return this;
  }

  protected override async firstUpdated(): Promise<void> {
    const stage = this.querySelector<Stage>('phosphene-stage')!;
    await stage.updateComplete;
    this.session = stage.session;
    this.dispatchEvent(new CustomEvent('ready', { detail: this.session }));
  }

  protected override render(): TemplateResult {
    const { session } = this;
    const whenReady = (part: () => TemplateResult): TemplateResult | string => (session ? part() : '');
    return html`
      <header>
        <h1><img src="./icon.svg" alt="" width="18" height="18" />phosphene</h1>
        ${whenReady(() => html`<phosphene-run .session=${session!}></phosphene-run>`)}
        ${whenReady(() => html`<phosphene-mode .session=${session!}></phosphene-mode>`)}
        ${whenReady(() => html`<phosphene-numbers .session=${session!}></phosphene-numbers>`)}
        ${whenReady(() => html`<phosphene-status .session=${session!}></phosphene-status>`)}
      </header>
      <aside class=${this.open === 'tensors' ? 'left open' : 'left'} id="tensors" aria-label="Tensors">
        ${whenReady(() => html`<phosphene-tensors .session=${session!}></phosphene-tensors>`)}
      </aside>
      <main>
        <div class="options" role="toolbar" aria-label="Scaling">
          ${this.toggle('tensors', 'Tensors')}
          ${whenReady(() => html`<phosphene-scaling .session=${session!}></phosphene-scaling>`)}
          ${this.toggle('inspector', 'Inspect')}
        </div>
        <phosphene-stage></phosphene-stage>
        ${whenReady(() => html`<phosphene-chart .session=${session!}></phosphene-chart>`)}
      </main>
      <aside class=${this.open === 'inspector' ? 'right open' : 'right'} id="inspector" aria-label="Inspector">
        ${whenReady(() => html`<phosphene-inspector .session=${session!}></phosphene-inspector>`)}
      </aside>
    `;
  }

  private toggle(panel: 'tensors' | 'inspector', label: string): TemplateResult {
    const open = this.open === panel;
    return html`<button
      type="button"
      class="toggle"
      aria-expanded=${open}
      aria-controls=${panel}
      @click=${() => (this.open = open ? '' : panel)}
    >
      ${label}
    </button>`;
  }
}

customElements.define('phosphene-page', Page);
