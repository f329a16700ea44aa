// The tensor under the pointer: its shape, range and statistics, and what the pixel says.
import { html, nothing, type TemplateResult } from 'lit';

import { Kind, type Range, type Section, Shape, type Statistics } from '../gen/phosphene_pb';
import { edgeOf, intervalOf, kLevels } from '../picture/level';
import { type Reading, type Session } from '../session';
import { Part } from './part';
import {
  describePooling, formatCount, formatElements, formatInterval, formatShape, formatShare, formatValue, nameOfDType,
  nameOfKind, nameOfShape,
} from './words';

/** The tensor to tell about: under the pointer, else highlighted, else the first. */
export function tensorOf(session: Session, reading: Reading | undefined): Section | undefined {
  if (reading) return reading.hit.section;
  const sections = session.layout?.sections ?? [];
  return sections.find(({ tensor }) => tensor === session.highlighted) ?? sections[0];
}

/** The values that a reading stands for, in words. */
export function valueOf({ level, mark, known, isAbsent }: Reading): string {
  if (isAbsent) return 'not there at this step';
  if (mark === 'nan') return 'NaN';
  if (mark === 'inf') return '±∞';
  return known?.range ? formatInterval(intervalOf(known.range, level)) : '';
}

export class Inspector extends Part {
  protected override readonly follows = { change: 0, point: 0, paint: 120 };

  protected override render(): TemplateResult {
    const { session } = this;
    const reading = session.read();
    const section = tensorOf(session, reading);
    const notices = [...new Set([...(session.run?.notices ?? []), ...session.notices])];
    const known = section && session.known(section.tensor);
    return html`
      ${section
        ? html`
            <h2>Tensor</h2>
            <h3>${section.name}</h3>
            <dl>
              ${row('kind', nameOfKind(section.kind))} ${row('shape', formatShape(section.shape))}
              ${row('type', nameOfDType(section.dtype))} ${row('shown as', describePooling(section))}
            </dl>
            ${known?.range ? legend(known.range, section.kind, reading) : ''}
            <h2>Here</h2>
            ${reading ? here(reading) : html`<p class="dim">Point at a cell, or move with the arrow keys.</p>`}
            ${known?.statistics ? statistics(known.statistics) : ''}
          `
        : html`<h2>Tensor</h2>
            <p class="dim">Point at the picture to read its values.</p>`}
      ${notices.length > 0
        ? html`<h2>Notices</h2>
            <ul class="notices" role="log">
              ${notices.map((text) => html`<li>${text}</li>`)}
            </ul>`
        : ''}
    `;
  }
}

function row(name: string, value: string, warn = false): TemplateResult | typeof nothing {
  if (!value) return nothing;
  return html`<div class=${warn ? 'warn' : ''}>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function here(reading: Reading): TemplateResult {
  const { elements, level, mark, isAbsent } = reading;
  return html`<dl>
    ${row(elements.count > 1 ? 'elements' : 'element', formatElements(elements))}
    ${elements.count > 1 ? row('pooled', `${formatCount(elements.count)} values`) : nothing}
    ${isAbsent ? nothing : row('level', mark === 'none' ? `${level} of ${kLevels - 1}` : 'not a finite number', mark !== 'none')}
    ${row('value', valueOf(reading), mark !== 'none')}
  </dl>`;
}

function legend(range: Range, kind: Kind, reading: Reading | undefined): TemplateResult {
  const current = reading?.mark === 'none' ? reading.level : -1;
  const scale = [kind === Kind.GRADIENT ? 'magnitude' : '', nameOfShape(range.shape)].filter(Boolean).join(', ');
  const ends = [0, kLevels / 2, kLevels].map((k) => formatValue(edgeOf(range, k)));
  return html`<h2>Levels <span>${scale}</span></h2>
    <div class="legend" role="img" aria-label="Sixteen levels from ${ends[0]} to ${ends[2]}">
      ${Array.from(
        { length: kLevels },
        (_, k) => html`<i class="level-${k} ${k === current ? 'current' : ''}" title="level ${k}: ${formatInterval(intervalOf(range, k))}"></i>`,
      )}
    </div>
    <div class="ends">
      <span>${range.shape === Shape.LOG ? `≤ ${ends[0]}` : ends[0]}</span><span>${ends[1]}</span><span>${ends[2]}</span>
    </div>`;
}

function statistics(s: Statistics): TemplateResult {
  const count = Number(s.count);
  const share = (part: bigint): string => (count ? formatShare(Number(part) / count) : '0');
  return html`<h2>Statistics <span>step ${formatCount(Number(s.step))}</span></h2>
    <dl>
      ${row('min · max', `${formatValue(s.min)} · ${formatValue(s.max)}`)}
      ${row('mean · std', `${formatValue(s.mean)} · ${formatValue(s.std)}`)} ${row('L2 norm', formatValue(s.l2))}
      ${row('zero', share(s.zero))}
      ${row('NaN · Inf', `${formatCount(Number(s.nan))} · ${formatCount(Number(s.inf))}`, s.nan + s.inf > 0n)}
      ${row('elements', formatCount(count))}
    </dl>`;
}

customElements.define('phosphene-inspector', Inspector);
