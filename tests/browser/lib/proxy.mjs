// A reverse proxy below a path, as small as those that people put in front of a notebook.

import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { Transform } from 'node:stream';

/** A line of so many bytes a second, behind a queue that swallows megabytes, as tunnels and modems have it. */
const line = (rate) => {
  let free = 0; // when the line is
  return new Transform({
    highWaterMark: 8 << 20,
    transform(bytes, _, passed) {
      free = Math.max(free, performance.now()) + (bytes.length / rate) * 1000;
      setTimeout(() => passed(null, bytes), free - performance.now());
    },
  });
};

/**
 * Passes what comes below `path` on to `target`, the path taken off or not; what a WebSocket says to the page at `rate` bytes
 * a second.
 */
export async function proxy(target, path, { strip = true, rate = Infinity } = {}) {
  const { hostname, port } = new URL(target);
  const passed = (incoming) => ({
    hostname, port, method: incoming.method, headers: incoming.headers,
    path: strip ? incoming.url.slice(path.length).replace(/^(?!\/)/, '/') : incoming.url,
  });
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url.startsWith(path)) return outgoing.writeHead(404).end();
    const onward = request(passed(incoming), (answer) => {
      outgoing.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  const sockets = new Set();
  server.on('upgrade', (incoming, socket, head) => {
    const onward = request(passed(incoming));
    onward.on('upgrade', (answer, far, farHead) => {
      const lines = [];
      for (let i = 0; i < answer.rawHeaders.length; i += 2) lines.push(`${answer.rawHeaders[i]}: ${answer.rawHeaders[i + 1]}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      if (farHead.length) socket.write(farHead);
      if (head.length) far.write(head);
      for (const end of [socket, far]) {
        sockets.add(end);
        end.on('error', () => {}).on('close', () => (socket.destroy(), far.destroy()));
      }
      (rate < Infinity ? far.pipe(line(rate)) : far).pipe(socket).pipe(far);
    });
    onward.on('response', (answer) => socket.end(`HTTP/1.1 ${answer.statusCode} Refused\r\n\r\n`));
    onward.on('error', () => socket.destroy());
    onward.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}${path}`,
    async stop() {
      sockets.forEach((socket) => socket.destroy());
      server.closeAllConnections?.();
      server.close();
    },
  };
}
