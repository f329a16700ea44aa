// The curves below the picture: loss first, what else was logged by choice.
import { html, type TemplateResult } from 'lit';
import './language';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { firstShown, isLoss, type ScalarStore } from '../scalars';
import { Part } from './part';
import { formatCount, formatValue } from './words';

const kColours = ['#5fe08a', '#7cc4ff', '#ffb454', '#e58cff', '#ff7a85', '#5fd7d7', '#d6d65a', '#b3a1ff'];
const kAxis = '#8d98a5';
const kGrid = { stroke: '#1d232a', width: 1 };
const kFont = '11px system-ui, sans-serif';

export class Chart extends Part {
  static override properties = { ...Part.properties, logarithmic: { state: true }, chosen: { state: true } };
  protected override readonly follows = { change: 250 };
  declare logarithmic: boolean;
  declare chosen: ReadonlySet<string> | undefined; // nothing: what is shown first

  private plot: uPlot | undefined;
  private drawn = '';    // what the plot was made for
  private version = -1;  // of the curves that it shows
  private cursor: number | undefined; // column under the pointer

  constructor() {
    super();
    this.logarithmic = false;
  }

  protected override render(): TemplateResult {
    const names = [...(this.session.scalars?.curves.keys() ?? [])];
    const shown = this.shown(names);
    return html`
      <div class="curves" role="group" aria-label="Curves">
        ${names.map(
          (name, i) => html`<label class="curve colour-${i % kColours.length}">
            <input type="checkbox" .checked=${shown.includes(name)} @change=${() => this.toggle(name, shown)} />
            <i aria-hidden="true"></i>${name} <b>${this.valueNow(name, shown)}</b>
          </label>`,
        )}
        ${names.length === 0 ? html`<span class="dim">No curve yet: a hook logs the loss beside the step.</span>` : ''}
        <label class="curve log" ?hidden=${names.length === 0}>
          <input
            type="checkbox"
            .checked=${this.logarithmic}
            @change=${(event: Event) => (this.logarithmic = (event.target as HTMLInputElement).checked)}
          />
          <i aria-hidden="true"></i>log
        </label>
      </div>
      <div class="plot" role="img" aria-label="${shown.join(', ')} over steps"></div>
    `;
  }

  protected override firstUpdated(): void {
    const box = this.querySelector('.plot')!;
    new ResizeObserver(() => this.plot?.setSize(sizeOf(box))).observe(box);
  }

  protected override updated(): void {
    const store = this.session.scalars;
    const names = [...(store?.curves.keys() ?? [])];
    const shown = this.shown(names);
    const wanted = JSON.stringify([this.session.run?.id, names, shown, this.logarithmic]);
    if (!store || shown.length === 0) {
      this.plot?.destroy();
      this.plot = undefined;
      this.drawn = '';
      return;
    }
    if (this.drawn !== wanted) {
      this.plot?.destroy();
      this.plot = this.makePlot(names, shown);
      this.drawn = wanted;
      this.version = -1;
    }
    if (this.version !== store.version) {
      this.version = store.version;
      this.plot?.setData(align(store, shown));
    }
  }

  /** Under the pointer, else the newest. */
  private valueNow(name: string, shown: readonly string[]): string {
    const at = this.cursor === undefined ? undefined : this.plot?.data[shown.indexOf(name) + 1]?.[this.cursor];
    const value = at ?? this.session.scalars?.curves.get(name)?.values.at(-1);
    return value === undefined ? '' : formatValue(value);
  }

  private shown(names: readonly string[]): string[] {
    const { chosen } = this;
    if (chosen) return names.filter((name) => chosen.has(name));
    return firstShown(names);
  }

  private toggle(name: string, shown: readonly string[]): void {
    const chosen = new Set(shown);
    if (!chosen.delete(name)) chosen.add(name);
    this.chosen = chosen;
  }

  private makePlot(names: readonly string[], shown: readonly string[]): uPlot {
    const box = this.querySelector<HTMLElement>('.plot')!;
    // Losses and all else each have an axis, if both are shown.
    const scale = (name: string): string => (isLoss(name) === isLoss(shown[0]!) ? 'left' : 'right');
    const values = (_: uPlot, splits: number[]): string[] => splits.map((value) => (value === null ? '' : formatValue(value)));
    const axis = (key: string, side: 1 | 3, show: boolean): uPlot.Axis => ({
      scale: key, side, show, values, size: 54, gap: 4, stroke: kAxis, font: kFont, ticks: { show: false },
      grid: { ...kGrid, show: key === 'left' },
    });
    const distr = this.logarithmic ? 3 : 1;
    return new uPlot(
      {
        ...sizeOf(box),
        padding: [8, shown.some((name) => scale(name) === 'right') ? 0 : 14, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: false }, left: { distr }, right: { distr } },
        axes: [
          {
            stroke: kAxis, font: kFont, size: 24, gap: 4, grid: { show: false }, ticks: { show: false },
            values: (_, splits) => splits.map((step) => (Number.isInteger(step) ? formatCount(step) : '')),
          },
          axis('left', 3, true),
          axis('right', 1, shown.some((name) => scale(name) === 'right')),
        ],
        series: [
          { label: 'step' },
          ...shown.map((name): uPlot.Series => ({
            label: name, scale: scale(name), stroke: kColours[names.indexOf(name) % kColours.length]!, width: 1.5,
            spanGaps: true, points: { show: false },
          })),
        ],
        hooks: { setCursor: [({ cursor }) => this.onCursor(cursor.idx)] },
      },
      [[]],
      box,
    );
  }

  private onCursor(index: number | null | undefined): void {
    if ((index ?? undefined) === this.cursor) return;
    this.cursor = index ?? undefined;
    this.requestUpdate();
  }
}

function sizeOf(box: Element): { width: number; height: number } {
  return { width: Math.max(80, box.clientWidth), height: Math.max(60, box.clientHeight) };
}

/** One column of steps for all curves; what is not finite leaves a gap. */
function align(store: ScalarStore, names: readonly string[]): uPlot.AlignedData {
  const tables = names.map((name): uPlot.AlignedData => {
    const { steps, values } = store.curves.get(name)!;
    return [steps, values.map((value) => (Number.isFinite(value) ? value : null))];
  });
  return tables.length === 1 ? tables[0]! : uPlot.join(tables);
}

customElements.define('phosphene-chart', Chart);
