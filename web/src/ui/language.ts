// WebKit under LANG=C names its language “C”, which Intl refuses, and uPlot asks Intl while it loads: import this before.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
