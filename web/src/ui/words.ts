// Numbers, shapes and indices as a person reads them.
import { DType, Kind, Pooling, type Section, Shape } from '../gen/phosphene_pb';
import { type Elements } from '../picture/mapping';

const kMinus = '\u2212';
const kThinSpace = '\u202f';

/** Three significant digits: 0.034, −1.2e−3, 6 100 000. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${kMinus}∞`;
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-3 || size >= 1e5)
      ? value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e')
      : String(Number(value.toPrecision(3)));
  return text.replaceAll('-', kMinus);
}

/** 1 500 000 */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, kThinSpace);
}

/** 3.1 % */
export function formatShare(share: number): string {
  const percent = 100 * share;
  const digits = percent === 0 || percent >= 99.95 ? 0 : percent < 0.1 ? 3 : 1;
  return `${Number(percent.toFixed(digits))}${kThinSpace}%`;
}

export function formatShape(shape: readonly bigint[]): string {
  return shape.length === 0 ? 'scalar' : shape.join(` × `);
}

/** [9, 14, 1, 2], or [0…3, 14] and [0, 14] … [3, 2] where a cell stands for several elements. */
export function formatElements({ first, last }: Elements): string {
  const differing = first.filter((index, i) => index !== last[i]).length;
  if (differing <= 1) {
    return `[${first.map((index, i) => (index === last[i] ? index : `${index}…${last[i]}`)).join(', ')}]`;
  }
  return `[${first.join(', ')}] … [${last.join(', ')}]`;
}

export function formatInterval([lo, hi]: readonly [number, number]): string {
  if (lo === hi) return formatValue(lo);
  if (lo === -Infinity) return `< ${formatValue(hi)}`;
  if (hi === Infinity) return `≥ ${formatValue(lo)}`;
  return `${formatValue(lo)} … ${formatValue(hi)}`;
}

export function nameOfDType(dtype: DType): string {
  return (DType[dtype] ?? 'unknown').replace('DTYPE_', '').toLowerCase();
}

export function nameOfKind(kind: Kind): string {
  return (Kind[kind] ?? 'unknown').toLowerCase();
}

export function nameOfShape(shape: Shape): string {
  return { [Shape.LINEAR]: 'linear', [Shape.SYMMETRIC]: 'symmetric', [Shape.LOG]: 'logarithmic' }[shape as number] ?? '';
}

/** What was done to a tensor to fit it in; nothing where every element has its own cell. */
export function describePooling({ pooling, shown }: Section): string {
  const part = shown < 1 ? `, ${formatShare(shown)} of the elements` : '';
  switch (pooling) {
    case Pooling.RMS:
      return `root mean square${part}`;
    case Pooling.EXTREME:
      return `largest magnitude${part}`;
    default:
      return shown < 1 ? `${formatShare(shown)} of the elements` : '';
  }
}
