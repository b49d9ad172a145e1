import { expect, test } from 'vitest';
import { applyDefaults, decode, encode } from './json/index.ts';
import { schemaIn, wholeSchema } from './releases.ts';
import {
  always,
  type Infer,
  int32,
  type LazyType,
  lazy,
  list,
  type MessageType,
  map,
  message,
  opt,
  req,
  resolve,
  string,
} from './types.ts';

const Unchanged = message('t.v1.Unchanged', { a: opt(1, string) });
const Port = message('t.v1.Port', {
  port: req(1, int32),
  protocol: opt(2, string, { enum: ['TCP'], from: { '1.26': { enum: ['TCP', 'SCTP'], default: 'TCP' } } }),
  appProtocol: opt(3, string, { since: '1.30' }),
  old: opt(4, string, { until: '1.24' }),
});
const Service = message('t.v1.Service', {
  unchanged: opt(1, Unchanged),
  ports: opt(2, list(Port)),
  byName: opt(3, map(Port)),
});
const names = (type: MessageType): string[] => type.ordered.map(({ name }) => name);
const portsOf = (type: MessageType): MessageType => {
  const ports = type.ordered.find(({ name }) => name === 'ports')?.type;
  return (ports as { item: MessageType }).item;
};

test('a release has the fields that say so, wherever the message is', () => {
  expect(names(schemaIn('1.24', Port))).toEqual(['port', 'protocol', 'old']);
  expect(names(schemaIn('1.29', Port))).toEqual(['port', 'protocol']);
  expect(names(schemaIn('1.30', Port))).toEqual(['port', 'protocol', 'appProtocol']);
  const service = schemaIn('1.30', Service);
  expect(portsOf(service)).toBe(schemaIn('1.30', Port));
  expect(service.name).toBe('t.v1.Service');
});

test('what does not differ is the very message that was declared', () => {
  expect(schemaIn('1.36', Unchanged)).toBe(Unchanged);
  const unchangedField = schemaIn('1.36', Service).ordered.find(({ name }) => name === 'unchanged');
  expect(unchangedField?.type).toBe(Unchanged);
  expect(schemaIn('1.30', Service)).toBe(schemaIn('1.30', Service));
});

test('a message of one release can be asked for in another, or whole', () => {
  const ofOld = schemaIn('1.24', Service);
  expect(schemaIn('1.24', ofOld)).toBe(ofOld);
  expect(schemaIn('1.36', ofOld)).toBe(schemaIn('1.36', Service));
  expect(wholeSchema(ofOld)).toBe(Service);
  expect(wholeSchema(Service)).toBe(Service);
});

test('values and defaults are those of the release, and a field of a later one is unknown', () => {
  const read = (release: '1.24' | '1.29' | '1.30') => {
    const schema = schemaIn(release, Port);
    const port = decode(schema, { port: 1, appProtocol: 'http' }) as Infer<typeof Port>;
    applyDefaults(schema, port);
    return encode(schema, port);
  };
  expect(read('1.24')).toBe('{"port":1}');
  expect(read('1.29')).toBe('{"port":1,"protocol":"TCP"}');
  expect(read('1.30')).toBe('{"port":1,"protocol":"TCP","appProtocol":"http"}');
  expect(schemaIn('1.26', Port).ordered.find(({ name }) => name === 'protocol')?.enum).toEqual(['TCP', 'SCTP']);
});

test('a message may contain itself', () => {
  type Tree = MessageType;
  const Tree: Tree = message('t.v1.Tree', {
    leaf: always(1, string),
    late: opt(2, string, { since: '1.30' }),
    children: opt(3, list(lazy((): MessageType => Tree))),
  });
  const tree = schemaIn('1.24', Tree);
  expect(names(tree)).toEqual(['leaf', 'children']);
  const children = tree.ordered[1]?.type as { item: LazyType };
  expect(resolve(children.item)).toBe(tree);
  const Plain: MessageType = message('t.v1.Plain', {
    next: opt(
      1,
      lazy((): MessageType => Plain),
    ),
    other: opt(2, Unchanged),
  });
  expect(schemaIn('1.36', Plain)).toBe(Plain);
});
