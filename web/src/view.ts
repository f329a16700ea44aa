// All that a viewer chose, as the keys of a query: the same in the page's URL, in messages and in /live.mp4.

export type Query = Readonly<Record<string, string>>;

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

export const kModes: readonly Choice[] = [
  { value: 'off', label: 'Off', hint: 'Nothing is read; training runs as if nobody watched' },
  { value: 'parameters', label: 'Parameters', hint: 'Weights and biases' },
  { value: 'gradients', label: 'Gradients', hint: 'Magnitudes of the gradients, at the optimiser’s step' },
  { value: 'activations', label: 'Activations', hint: 'What the layers put out' },
  { value: 'frames', label: 'Frames', hint: 'Pictures that the program sends itself' },
];

/** The first value of each is the default and is left out of queries. */
export const kOptions: Readonly<Record<'scope' | 'shape' | 'range' | 'pooling' | 'quality', readonly Choice[]>> = {
  scope: [
    { value: 'layer', label: 'layer', hint: 'Each tensor has its own range' },
    { value: 'network', label: 'network', hint: 'One range for all tensors' },
  ],
  shape: [
    { value: 'default', label: 'automatic', hint: 'What shows most in this mode' },
    { value: 'linear', label: 'linear' },
    { value: 'symmetric', label: 'symmetric', hint: 'Zero is the middle grey' },
    { value: 'log', label: 'log', hint: 'Of the magnitude, four decades below the top' },
  ],
  range: [
    { value: 'steady', label: 'steady', hint: 'Widens at once, narrows slowly' },
    { value: 'frame', label: 'each frame', hint: 'Each frame’s own, from its smallest to its largest value' },
  ],
  pooling: [
    { value: 'rms', label: 'rms', hint: 'Root mean square, where a pixel stands for several values' },
    { value: 'extreme', label: 'largest', hint: 'The largest magnitude with its sign, where a pixel stands for several values' },
  ],
  quality: [
    { value: 'exact', label: 'exact', hint: 'Every level arrives as it was' },
    { value: 'smooth', label: 'smooth', hint: 'At most 3 Mbit/s: for slow links' },
  ],
};

export type Option = keyof typeof kOptions;

const kKeys = ['run', 'mode', 'quality', 'size', 'fit', 'fps', 'scope', 'range', 'shape', 'pooling'];

/** The part of a URL's query that is a view. What is not given is absent. */
export function parseView(search: string): Query {
  const view: Record<string, string> = {};
  const parameters = new URLSearchParams(search);
  for (const key of kKeys) {
    const value = parameters.get(key);
    if (value) view[key] = value;
  }
  return view;
}

/** The query of a view in one fixed order, other keys of `search` kept. Commas and the like stay readable. */
export function formatView(view: Query, search = ''): string {
  const parameters = new URLSearchParams(search);
  for (const key of kKeys) parameters.delete(key);
  for (const key of kKeys) {
    const value = view[key];
    if (value) parameters.set(key, value);
  }
  const text = parameters.toString().replaceAll('%2C', ',');
  return text ? `?${text}` : '';
}

/** A view with one key changed; an empty value or a default takes the key out. */
export function withKey(view: Query, key: string, value: string): Query {
  const { [key]: _, ...rest } = view;
  const preset = key in kOptions ? kOptions[key as Option][0]!.value : '';
  return value === preset ? rest : { ...rest, [key]: value };
}

const kLeastWidth = 64;
const kLeastHeight = 16;
const kMostSide = 4096;

/** The canvas that fills an area of CSS pixels, each of its pixels a whole number of the device's. */
export function fitOf(width: number, height: number, pixelRatio: number): string {
  const scale = pixelRatio / Math.max(1, Math.floor(pixelRatio));
  const side = (length: number, least: number): number =>
    Math.min(kMostSide, Math.max(least, 2 * Math.floor((length * scale) / 2)));
  return `${side(width, kLeastWidth)}x${side(height, kLeastHeight)}`;
}

/**
 * CSS pixels that one pixel of the picture takes in an area: a whole number of device pixels where it fits at all,
 * else as much as there is room.
 */
export function scaleOf(picture: [number, number], area: [number, number], pixelRatio: number): number {
  const room = Math.min(area[0] / picture[0], area[1] / picture[1]) * pixelRatio;
  // A picture made for this very area may be wider by a fraction of a device pixel.
  const whole = Math.floor(room + 1e-3);
  return (whole >= 1 ? whole : room) / pixelRatio;
}
