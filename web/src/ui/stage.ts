// The picture: the video, the canvas that shows and reads it, and what is drawn over them from the layout.
import { html, LitElement, type TemplateResult } from 'lit';

import { type Layout } from '../gen/phosphene_pb';
import { hit, pixelsOf, type PixelRect } from '../picture/mapping';
import { type Reading, Session } from '../session';
import { scaleOf } from '../view';
import { valueOf } from './inspector';
import { seldom } from './part';
import { formatCount, formatElements } from './words';

const kResizePause = 250; // ms without a change before another canvas is asked for

/** Makes the session, since it owns the video and the canvas. */
export class Stage extends LitElement {
  declare session: Session;

  private drawn: Layout | undefined; // whose labels stand
  private scale = 1;                 // CSS pixels a canvas pixel

  protected override createRenderRoot(): this {
    return this;
  }

  protected override render(): TemplateResult {
    return html`
      <div class="picture" @pointerleave=${() => this.session.point(undefined)}>
        <video muted playsinline tabindex="-1" aria-hidden="true"></video>
        <canvas
          tabindex="0"
          role="img"
          aria-describedby="reading"
          aria-label="The network’s levels; arrow keys go from cell to cell"
          width="2"
          height="2"
          @pointermove=${this.onPointer}
          @pointerdown=${this.onPointer}
          @keydown=${this.onKey}
          @blur=${() => this.session.point(undefined)}
        ></canvas>
        <div class="labels" aria-hidden="true"></div>
        <div class="outline section" hidden></div>
        <div class="outline cell" hidden></div>
        <div class="tooltip" id="reading" hidden></div>
      </div>
      <div class="message" hidden>
        <p></p>
        <button type="button" @click=${() => this.session.play()}>Play</button>
      </div>
    `;
  }

  protected override firstUpdated(): void {
    this.session = new Session(this.find('video'), this.find('canvas'));
    this.session.addEventListener('change', () => this.draw());
    this.session.addEventListener('point', () => this.drawReading());
    this.session.addEventListener('paint', seldom(33, () => this.drawReading()));

    let timer: number | undefined;
    new ResizeObserver(() => {
      this.fitPicture();
      const pause = timer === undefined ? 0 : kResizePause; // the first size is asked for at once
      clearTimeout(timer);
      timer = window.setTimeout(() => this.session.setArea(this.clientWidth, this.clientHeight), pause);
    }).observe(this);
    this.draw();
  }

  private find<T extends HTMLElement>(selector: string): T {
    return this.querySelector<T>(selector)!;
  }

  private draw(): void {
    const { layout, status } = this.session;
    if (layout !== this.drawn) {
      this.drawn = layout;
      this.fitPicture();
      this.drawLabels();
    }
    this.find('.picture').classList.toggle('empty', !layout);
    this.find('.picture').classList.toggle('stale', status.tone !== 'live');
    const message = this.find('.message');
    message.hidden = !!layout && !status.detail;
    message.className = `message ${status.tone} ${layout ? 'strip' : ''}`;
    this.find('.message p').textContent = status.detail || `${status.text} …`;
    this.find('.message button').hidden = status.text !== 'click to play';
    this.drawReading();
  }

  /** Whole device pixels a cell where the picture fits, on the device's own grid. */
  private fitPicture(): void {
    if (!this.drawn) return;
    const { width, height } = this.drawn;
    const ratio = window.devicePixelRatio;
    this.scale = scaleOf([width, height], [this.clientWidth, this.clientHeight], ratio);
    const left = Math.max(0, Math.round(((this.clientWidth - width * this.scale) / 2) * ratio) / ratio);
    const picture = this.find('.picture');
    place(picture, { x: left, y: 0, width: width * this.scale, height: height * this.scale }, 'px');
    picture.style.setProperty('--scale', String(this.scale));
    picture.classList.toggle('reduced', this.scale * ratio < 0.999);
    picture.classList.toggle('tiny', this.scale < 0.7);
  }

  private drawLabels(): void {
    const labels = (this.drawn?.sections ?? []).flatMap(({ label, labelRect }) => {
      if (!label || !labelRect) return [];
      const element = document.createElement('span');
      const at = label.indexOf(' ');
      element.textContent = at < 0 ? label : label.slice(0, at);
      if (at >= 0) element.append(Object.assign(document.createElement('small'), { textContent: label.slice(at) }));
      this.cover(element, labelRect);
      return [element];
    });
    this.find('.labels').replaceChildren(...labels);
  }

  private drawReading(): void {
    const { session } = this;
    const reading = session.read();
    const tensor = reading?.hit.section.tensor ?? session.highlighted;
    this.outline('.outline.section', session.layout?.sections.find((section) => section.tensor === tensor)?.rect);
    this.outline('.outline.cell', reading && pixelsOf(reading.hit));
    this.drawTooltip(reading);
  }

  private outline(selector: string, rect: PixelRect | undefined): void {
    const element = this.find(selector);
    element.hidden = !rect;
    if (rect) this.cover(element, rect);
  }

  /** Puts an element over a rectangle of the canvas. */
  private cover(element: HTMLElement, { x, y, width, height }: PixelRect): void {
    const layout = this.drawn;
    if (!layout) return;
    const [w, h] = [layout.width / 100, layout.height / 100];
    place(element, { x: x / w, y: y / h, width: width / w, height: height / h }, '%');
  }

  private drawTooltip(reading: Reading | undefined): void {
    const tooltip = this.find('.tooltip');
    const cell = reading && pixelsOf(reading.hit);
    tooltip.hidden = !cell;
    if (!reading || !cell || !this.drawn) return;
    const { section } = reading.hit;
    const name = Object.assign(document.createElement('b'), { textContent: section.name });
    const { step } = reading;
    const level = reading.isAbsent ? '' : reading.mark === 'none' ? `level ${reading.level}` : 'not finite';
    const lines = document.createElement('div');
    lines.textContent = [level, valueOf(reading), step === undefined ? '' : `step ${formatCount(step)}`]
      .filter(Boolean)
      .join(' · ');
    tooltip.replaceChildren(name, formatElements(reading.elements), lines);

    // Beside the cell, on the side that has more room.
    const { width, height } = this.drawn;
    const toRight = cell.x < width / 2;
    const below = cell.y < height / 2;
    tooltip.style.left = toRight ? `${(100 * (cell.x + cell.width)) / width}%` : 'auto';
    tooltip.style.right = toRight ? 'auto' : `${100 - (100 * cell.x) / width}%`;
    tooltip.style.top = below ? `${(100 * (cell.y + cell.height)) / height}%` : 'auto';
    tooltip.style.bottom = below ? 'auto' : `${100 - (100 * cell.y) / height}%`;
  }

  private onPointer({ offsetX, offsetY }: PointerEvent): void {
    const { layout } = this.session;
    const x = Math.floor(offsetX / this.scale);
    const y = Math.floor(offsetY / this.scale);
    this.session.point(layout && x >= 0 && y >= 0 && x < layout.width && y < layout.height ? { x, y } : undefined);
  }

  private onKey(event: KeyboardEvent): void {
    const layout = this.drawn;
    const towards = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === 'Escape') this.session.point(undefined);
    if (!layout || !towards) return;
    event.preventDefault();
    const [dx, dy] = towards as [number, number];
    const from = this.session.pointer ?? layout.sections[0]?.rect ?? { x: 0, y: 0 };
    const here = this.session.pointer && hit(layout, from.x, from.y);
    // The next pixel that shows another cell.
    let { x, y } = from;
    for (x += dx, y += dy; x >= 0 && y >= 0 && x < layout.width && y < layout.height; x += dx, y += dy) {
      const there = hit(layout, x, y);
      if (there && !(here && here.section === there.section && here.cellX === there.cellX && here.cellY === there.cellY)) {
        this.session.point({ x, y });
        return;
      }
    }
  }
}

function place(element: HTMLElement, { x, y, width, height }: PixelRect, unit: string): void {
  const { style } = element;
  style.left = `${x}${unit}`;
  style.top = `${y}${unit}`;
  style.width = `${width}${unit}`;
  style.height = `${height}${unit}`;
}

customElements.define('phosphene-stage', Stage);
