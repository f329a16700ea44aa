// The list of what the picture shows, in network order, by module.
import { html, type TemplateResult } from 'lit';

import { type Section } from '../gen/phosphene_pb';
import { Part } from './part';
import { formatShape } from './words';

/** conv1.weight → conv1, weight; also with slashes. */
export function splitName(name: string): [string, string] {
  const at = Math.max(name.lastIndexOf('.'), name.lastIndexOf('/'));
  return at > 0 && at < name.length - 1 ? [name.slice(0, at), name.slice(at + 1)] : ['', name];
}

/** Neighbours of one module together, the order kept. */
export function groupByModule(sections: readonly Section[]): [string, Section[]][] {
  const groups: [string, Section[]][] = [];
  for (const section of sections) {
    const [module] = splitName(section.name);
    const last = groups.at(-1);
    if (last && last[0] === module) last[1].push(section);
    else groups.push([module, [section]]);
  }
  return groups;
}

export class TensorList extends Part {
  static override properties = { ...Part.properties, filter: { state: true } };
  protected override readonly follows = { change: 0, point: 0 };
  declare filter: string;

  constructor() {
    super();
    this.filter = '';
  }

  protected override render(): TemplateResult {
    const { session } = this;
    const sections = session.layout?.sections ?? [];
    const wanted = this.filter.toLowerCase();
    const found = sections.filter(({ name }) => name.toLowerCase().includes(wanted));
    const left = session.layout?.leftOut ?? 0;
    return html`
      <h2>Tensors <span>${sections.length || ''}</span></h2>
      ${sections.length > 12
        ? html`<input
            type="search"
            placeholder="find a tensor"
            aria-label="Find a tensor"
            .value=${this.filter}
            @input=${(event: Event) => (this.filter = (event.target as HTMLInputElement).value)}
          />`
        : ''}
      <div class="list" @pointerleave=${() => session.highlight(undefined)}>
        ${groupByModule(found).map(
          ([module, members]) => html`<section>
            ${module ? html`<h3 title=${module}><bdi>${module}</bdi></h3>` : ''}
            <ul>
              ${members.map((section) => this.row(section))}
            </ul>
          </section>`,
        )}
        ${sections.length === 0 ? html`<p class="dim">They are listed here when there is a picture.</p>` : ''}
        ${sections.length > 0 && found.length === 0 ? html`<p class="dim">No name has “${this.filter}” in it.</p>` : ''}
      </div>
      ${left > 0 ? html`<p class="dim">${left} more without room: a larger canvas shows them.</p>` : ''}
    `;
  }

  private row(section: Section): TemplateResult {
    const { session } = this;
    const show = (): void => session.highlight(section.tensor);
    const current = (session.read()?.hit.section.tensor ?? session.highlighted) === section.tensor;
    return html`<li>
      <button
        class=${current ? 'tensor current' : 'tensor'}
        title=${section.name}
        @pointerenter=${show}
        @focus=${show}
        @blur=${() => session.highlight(undefined)}
        @click=${show}
      >
        <span>${splitName(section.name)[1]}</span><small>${formatShape(section.shape)}</small>
      </button>
    </li>`;
  }
}

customElements.define('phosphene-tensors', TensorList);
