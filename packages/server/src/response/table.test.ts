import { expect, test } from 'vitest';
import { metadataText } from './table.ts';

test('metadata is cut out of the text of an object, of which nothing else is read', () => {
  const metadata = String.raw`{"name":"a","annotations":{"}\"":"{\\"},"labels":{}}`;
  const bytes = Buffer.from(`{"kind":"Thing","apiVersion":"v1","metadata":${metadata},"spec":no JSON at all`);
  expect(metadataText({ bytes })).toBe(metadata);
});
