/** Runs in a page before its own scripts: iPhones have a ManagedMediaSource, and no other. As strict as theirs. */
export function managedAlone() {
  const Source = window.MediaSource;
  window.ManagedMediaSource = class ManagedMediaSource extends Source {
    streaming = false;
    early = 0; // appended although nothing was wanted
    constructor() {
      super();
      window.managed = this;
      this.addEventListener('sourceopen', () => this.want(true), { once: true });
    }
    want(wanted) {
      this.streaming = wanted;
      this.dispatchEvent(new Event(wanted ? 'startstreaming' : 'endstreaming'));
    }
    addSourceBuffer(type) {
      const buffer = super.addSourceBuffer(type);
      const append = buffer.appendBuffer;
      buffer.appendBuffer = (bytes) => {
        if (!this.streaming) ++this.early;
        append.call(buffer, bytes);
      };
      return buffer;
    }
  };
  delete window.MediaSource;
  const { get, set } = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'src');
  Object.defineProperty(HTMLMediaElement.prototype, 'src', {
    configurable: true,
    get,
    set(url) {
      if (!this.disableRemotePlayback) throw new Error('a ManagedMediaSource needs disableRemotePlayback');
      set.call(this, url);
    },
  });
}

/** An engine, Chromium, whose pages have no other media source. */
export const onPhone = (engine) => ({
  async page() {
    const page = await engine.page();
    await page.raw.addInitScript(managedAlone);
    return page;
  },
});
