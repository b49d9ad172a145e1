/** Which form an Accept header gets, for objects, lists, streams and errors. */

import type { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { errorForm, isReader, Negotiator, type Offer, wantsPretty } from './negotiate.ts';

const negotiator = new Negotiator(kubernetes);
const object: Offer = { protobuf: true, transforms: ['Table', 'PartialObjectMetadata'] };
const list: Offer = { protobuf: true, transforms: ['Table', 'PartialObjectMetadataList'], list: true };
const custom: Offer = { protobuf: false, transforms: ['Table', 'PartialObjectMetadata'] };
const binary = kubernetes.protobufMediaType;
const meta = `g=meta.${kubernetes.groupSuffix};v=v1`;
const as = (form: string, media = 'application/json') => `${media};as=${form};${meta}`;

/** `json`, `yaml Table`, or the message of the refusal. */
function chosen(accept: string, offer: Offer, watch = false): string {
  try {
    const { media, transform, pretty } = negotiator.negotiate(accept, offer, watch);
    return `${media}${transform === undefined ? '' : ` ${transform}`}${pretty ? ' pretty' : ''}`;
  } catch (error) {
    expect(error).toMatchObject({ code: 406, reason: 'NotAcceptable' });
    return (error as ApiError).message;
  }
}
const REFUSED = `only the following media types are accepted: application/json, application/yaml, ${binary}`;

describe('clauses', () => {
  test.each([
    // In the order of quality; what takes anything comes after what does not, even after what is wanted less.
    ['application/json;q=0.2, application/yaml;q=0.8', 'yaml'],
    ['application/yaml, application/json', 'yaml'],
    ['*/*, application/yaml', 'yaml'],
    ['*/*;q=1, application/yaml;q=0.5', 'yaml'],
    ['application/yaml;q=0.5, */*;q=1', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', 'json'],
    // A quality that is no number is none.
    ['application/yaml;q=high, application/json;q=0.1', 'json'],
    ['application/yaml;q=0, application/json;q=1', 'json'],
    ['application/yaml;q=0', 'yaml'],
    // Parameters without a value do not count; names and values are taken as they are.
    ['application/json;as=', 'json'],
    ['application/json;v=;g', 'json'],
    ['application/json;as="Table"', REFUSED],
    [`application/json;AS=Table`, 'json'],
    ['application/json;charset=utf-8', 'json'],
    ['application/json;v=v1', REFUSED],
    [`application/json;g=meta.${kubernetes.groupSuffix}`, REFUSED],
    ['application/json;as=Table', REFUSED],
    [`application/json;as=Table;g=example.com;v=v1`, REFUSED],
    [`application/json;as=Table;g=meta.${kubernetes.groupSuffix};v=v1alpha1`, REFUSED],
    [`application/json;as=table;${meta}`, REFUSED],
    [`application/json;as=table;${meta},application/yaml`, 'yaml'],
    // Versions of the answer and names of streams.
    ['application/json;sv=v1', 'json'],
    ['application/json;sv=v2', REFUSED],
    ['application/json;stream=watch', 'json'],
    ['application/json;stream=list', REFUSED],
    ['application/yaml;stream=watch', REFUSED],
    ['application/json;pretty=1', 'json pretty'],
    ['application/json;pretty=true', 'json'],
  ])('%s', (accept, form) => {
    expect(chosen(accept, object)).toBe(form);
  });
  test('a dozen clauses keep their order, and hundreds are still put in order', () => {
    const many = Array.from({ length: 200 }, () => 'text/html').join();
    expect(chosen(`${many},application/json;q=0.1,application/yaml;q=0.2`, object)).toBe('yaml');
  });
});

describe('transforms', () => {
  test.each([
    [object, as('Table'), 'json Table'],
    [object, as('Table', 'application/yaml'), 'yaml Table'],
    [object, as('Table', '*/*'), 'json Table'],
    [object, as('Table', binary), REFUSED],
    [object, `${as('Table', binary)},application/json`, 'json'],
    [object, `${as('Table')},${as('PartialObjectMetadata')}`, 'json Table'],
    [object, as('PartialObjectMetadata', binary), 'protobuf PartialObjectMetadata'],
    [list, as('PartialObjectMetadataList'), 'json PartialObjectMetadataList'],
    // The form is known: a fallback is not looked at.
    [list, `${as('PartialObjectMetadata')},application/json`, expect.stringMatching(/^you requested PartialObjectMetadata, .* is a list/)],
    [
      object,
      `${as('PartialObjectMetadataList')},application/json`,
      expect.stringMatching(/^you requested PartialObjectMetadataList, .* is not a list/),
    ],
    [object, `${as('Drawing')},application/json`, 'json'],
    // Custom objects have no binary form, their metadata has.
    [custom, as('PartialObjectMetadata', binary), 'protobuf PartialObjectMetadata'],
    [custom, `${binary},application/json`, 'json'],
    [custom, binary, 'only the following media types are accepted: application/json, application/yaml'],
    [{ protobuf: true, transforms: [] }, `${as('PartialObjectMetadata')},application/json`, 'json'],
  ] as [Offer, string, unknown][])('%j %s', (offer, accept, form) => {
    expect(chosen(accept, offer)).toEqual(form);
  });
});

test.each([
  [
    'application/yaml, application/json',
    expect.stringMatching(/^only the following media types are accepted: application\/json;stream=watch/),
  ],
  ['application/yaml;stream=watch, application/json', 'json'],
  ['application/json;pretty=1', 'json pretty'],
  [`${as('PartialObjectMetadataList')},application/json`, 'json'],
  [as('PartialObjectMetadata', binary), 'protobuf PartialObjectMetadata'],
])('a stream as %s', (accept, form) => {
  expect(chosen(accept, object, true)).toEqual(form);
});

const RAW = { media: 'json', type: 'application/json', pretty: true };
const JSON_LINE = { media: 'json', type: 'application/json', pretty: false };
test.each([
  ['', JSON_LINE],
  ['*/*', JSON_LINE],
  ['application/json;stream=watch', JSON_LINE],
  ['application/json;pretty=1', RAW],
  ['application/yaml', { media: 'yaml', type: 'application/yaml', pretty: false }],
  [binary, { media: 'protobuf', type: binary, pretty: false }],
  // Errors are not transformed: the next clause decides, and in the end indented JSON.
  [as('Table'), RAW],
  [`${as('Table')},application/json`, JSON_LINE],
  [as('PartialObjectMetadata', binary), RAW],
  [`${as('PartialObjectMetadata', binary)},application/yaml`, { media: 'yaml', type: 'application/yaml', pretty: false }],
  ['application/yaml;stream=watch', RAW],
  ['application/json;sv=v1', RAW],
  ['text/plain', RAW],
])('errors for %s', (accept, form) => {
  expect(errorForm(accept)).toEqual(form);
});

test.each([
  ['1', 'go', true],
  ['t', 'go', true],
  ['TRUE', 'go', true],
  ['True', 'go', true],
  ['true', 'curl/8', true],
  ['0', 'curl/8', false],
  ['false', 'curl/8', false],
  ['F', 'curl/8', false],
  ['yes', 'curl/8', false],
  ['2', 'go', false],
  ['', 'go', false],
  ['', 'curl/8', true],
  [undefined, 'curl/8', true],
  [undefined, 'Wget/1.21', true],
  [undefined, 'Mozilla/5.0 (X11)', true],
  [undefined, 'Mozilla/4.0', false],
  [undefined, 'kubectl/v1.24.17', false],
  [undefined, 'mycurl/1', false],
  [undefined, undefined, false],
])('?pretty=%s for %s', (pretty, agent, indented) => {
  expect(wantsPretty(pretty, isReader(agent))).toBe(indented);
});
