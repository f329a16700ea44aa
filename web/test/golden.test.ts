// The vectors that hold every implementation to the same bytes.
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { sizeDelimitedDecodeStream, sizeDelimitedEncode } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';

import { FactsSchema, FromHookSchema, FromPageSchema, ToHookSchema, ToPageSchema } from '../src/gen/phosphene_pb';

const kSchemas: Readonly<Record<string, DescMessage>> = {
  facts: FactsSchema, from_hook: FromHookSchema, from_page: FromPageSchema, to_hook: ToHookSchema, to_page: ToPageSchema,
};

const files = import.meta.glob('../../proto/golden/*.{json,hex}', { eager: true, import: 'default', query: '?raw' });

function bytesOf(hex: string): Uint8Array {
  const digits = hex.replace(/\s/g, '');
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

const vectors = Object.keys(files)
  .filter((path) => path.endsWith('.json'))
  .map((path) => ({
    name: path.replace(/.*\/|\.json$/g, ''),
    json: JSON.parse(files[path] as string) as JsonValue,
    bytes: bytesOf((files[path.replace(/json$/, 'hex')] ?? '') as string),
  }));

describe('golden vectors', () => {
  const single = vectors.filter(({ name }) => !name.startsWith('stream.'));

  test('are there for every kind of message', () => {
    expect(new Set(single.map(({ name }) => name.split('.')[0]))).toEqual(new Set(Object.keys(kSchemas)));
  });

  test.each(single)('$name', ({ name, json, bytes }) => {
    const schema = kSchemas[name.split('.')[0]!]!;
    const message = fromBinary(schema, bytes);
    expect(message).toEqual(fromJson(schema, json));
    expect(toBinary(schema, message)).toEqual(bytes);
    expect(fromJson(schema, toJson(schema, message))).toEqual(message);
  });

  test('stream.from_hook: delimited, the sentinel last', async () => {
    const { json, bytes } = vectors.find(({ name }) => name === 'stream.from_hook')!;
    const messages = (json as JsonValue[]).map((item) => fromJson(FromHookSchema, item));
    const written = messages.flatMap((message) => [...sizeDelimitedEncode(FromHookSchema, message)]);
    expect([...bytes]).toEqual([...written, 0]);
    async function* whole(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, written.length);
    }
    const read = [];
    for await (const message of sizeDelimitedDecodeStream(FromHookSchema, whole())) read.push(message);
    expect(read).toEqual(messages);
  });
});
