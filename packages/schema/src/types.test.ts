import { expect, expectTypeOf, test } from 'vitest';
import {
  always,
  bool,
  boxed,
  bytes,
  type Infer,
  inline,
  int32,
  type JsonObject,
  lazy,
  list,
  map,
  message,
  object,
  opt,
  raw,
  req,
  string,
  time,
  union,
} from './types.ts';

test('the TypeScript type follows from the schema', () => {
  const Source = message('t.v1.Source', { path: opt(1, string), size: req(2, int32) });
  const Thing = object('t.v1.Thing', {
    name: req(1, string),
    source: inline(2, Source),
    labels: always(3, map(string)),
    at: always(4, time),
    data: always(5, bytes),
    object: always(6, raw),
    scope: always(7, string, { nullable: true }),
    extra: opt(8, map(boxed(list(string)))),
    ref: opt(9, string, { json: '$ref' }),
    items: opt(10, list(Source)),
  });
  expectTypeOf<Infer<typeof Thing>>().toEqualTypeOf<{
    kind?: string;
    apiVersion?: string;
    name: string;
    path?: string;
    size: number;
    labels?: Record<string, string>;
    at?: string;
    data?: string;
    object?: JsonObject;
    scope?: string;
    extra?: Record<string, string[]>;
    $ref?: string;
    items?: { path?: string; size: number }[];
  }>();
});

test('fields are listed as JSON shows them, inline ones in the place of their wrapper', () => {
  const Source = message('t.v1.Source', { path: opt(1, string), size: req(2, int32) });
  const Volume = message('t.v1.Volume', { name: req(1, string), source: inline(2, Source), last: opt(3, string, { json: '$last' }) });
  expect(Volume.ordered.map((field) => field.name)).toEqual(['name', 'path', 'size', '$last']);
  expect(Object.keys(object('t.v1.V', { name: req(1, string) }).fields)).toEqual(['kind', 'apiVersion', 'name']);
});

test('a union is any of its arms', () => {
  const Schema = message('t.v1.Schema', { id: opt(1, string) });
  const OrBool = union('t.v1.SchemaOrBool', { tag: 2, type: lazy(() => Schema) }, { tag: 1, type: bool });
  expectTypeOf<Infer<typeof OrBool>>().toEqualTypeOf<boolean | { id?: string }>();
});
