// Requests of bench/worst.mjs that are hard to read or to write: every format, with as many small parts as a body may hold.

import { definition, metadata } from './worst-bodies.mjs';
import { asJson, must, send } from './worst-server.mjs';
import { mapOf, times, wideSchema } from './worst-shapes.mjs';

const NS = 'worst';
const inNamespace = `/api/v1/namespaces/${NS}`;
const configMaps = `${inNamespace}/configmaps`;
const pods = `${inNamespace}/pods`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const custom = `/apis/worst.example.com/v1/namespaces/${NS}/things`;
/** The largest body that is read. */
const READ = Math.floor(2.9 * 2 ** 20);
const protobuf = 'application/vnd.kubernetes.protobuf';
const yaml = { 'content-type': 'application/yaml' };
const bytes = (value) => (Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const text = (length, part = 'a') => part.repeat(Math.ceil(length / part.length)).slice(0, length);

// ---- the binary form, written by hand: a server writes none of what is hostile ------------------------------------

const varint = (value) => {
  const out = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
  return Buffer.from(out);
};
const join = (...parts) => Buffer.concat(parts.flat(9).map(bytes));
const field = (tag, ...parts) => {
  const content = join(parts);
  return Buffer.concat([varint(tag * 8 + 2), varint(content.length), content]);
};
const entry = (key, value) => join(field(1, key), field(2, value));
const typeMeta = (apiVersion, kind) => join(field(1, apiVersion), field(2, kind));
/** The envelope of an object; `head` and `tail` stand before and after its parts. */
const envelope = (apiVersion, kind, raw, { head = Buffer.alloc(0), tail = Buffer.alloc(0) } = {}) =>
  join(Buffer.from('k8s\0'), head, field(1, typeMeta(apiVersion, kind)), field(2, join(raw)), tail);
const objectMeta = (name, ...more) => field(1, join(field(1, name), more));

let serial = 0;
const fresh = () => `dec${++serial}`;

/** Adds the cases to those of bench/worst-cases.mjs by its `add`. */
export function addDecoderCases(add) {
  const statuses = [200, 201, 400, 404, 409, 413, 415, 422];
  const post = (name, path, headers, make) => {
    let made;
    add(
      name,
      () => {
        made = fresh();
        return { method: 'POST', path, headers, body: bytes(make(made)) };
      },
      { statuses, after: (server) => send(server, { method: 'DELETE', path: `${path.split('?')[0]}/${made}?gracePeriodSeconds=0` }) },
    );
  };
  const binary = (name, path, apiVersion, kind, make, around) =>
    post(`decode binary ${name}`, path, { 'content-type': protobuf }, (made) => envelope(apiVersion, kind, make(made), around));
  const binaryMap = (name, make, around) => binary(name, configMaps, 'v1', 'ConfigMap', make, around);

  // ---- binary
  const shuffled = (i) => `k${(i * 7919) % 90_001}`;
  binaryMap('90,000 labels', (name) =>
    objectMeta(
      name,
      times(90_000, (i) => field(11, entry(`k${i}`, 'v'))),
    ),
  );
  binaryMap('90,000 labels out of order', (name) =>
    objectMeta(
      name,
      times(90_000, (i) => field(11, entry(shuffled(i), 'v'))),
    ),
  );
  binaryMap('19,900 labels', (name) =>
    objectMeta(
      name,
      times(19_900, (i) => field(11, entry(shuffled(i), 'v'))),
    ),
  );
  binaryMap('90,000 labels of empty keys', (name) =>
    objectMeta(
      name,
      times(90_000, () => field(11)),
    ),
  );
  binaryMap('90,000 annotations', (name) =>
    objectMeta(
      name,
      times(90_000, (i) => field(12, entry(shuffled(i), 'v'))),
    ),
  );
  binaryMap('90,000 data', (name) => [objectMeta(name), times(90_000, (i) => field(2, entry(shuffled(i), 'v')))]);
  binaryMap('90,000 binary data', (name) => [objectMeta(name), times(90_000, (i) => field(3, entry(shuffled(i), 'v')))]);
  binaryMap('last label not UTF-8', (name) =>
    objectMeta(
      name,
      times(90_000, (i) => field(11, entry(`k${i}`, 'v'))),
      field(11, entry('z', Buffer.from([0xff]))),
    ),
  );
  const empty = (tag, count = Math.floor(READ / 2)) => Buffer.alloc(2 * count, field(tag));
  binaryMap('a million empty types', (name) => objectMeta(name), { head: empty(1) });
  binaryMap('a million unknown parts of the envelope', (name) => objectMeta(name), { tail: empty(9) });
  binaryMap('a million empty metadata', (name) => [objectMeta(name), empty(1)]);
  binaryMap('99,000 empty metadata after 50,000 labels', (name) => [
    objectMeta(
      name,
      times(50_000, (i) => field(11, entry(`k${i}`, 'v'))),
    ),
    empty(1, 49_000),
  ]);
  binaryMap('a million unknown fields', (name) => [objectMeta(name), empty(9)]);
  binaryMap('a million unknown groups', (name) => [objectMeta(name), Buffer.alloc(READ - (READ % 2), '\x4b\x4c')]);
  binaryMap('one group of a million numbers', (name) => [objectMeta(name), `\x4b${text(READ - 2 - (READ % 2), '\x08\x01')}\x4c`]);
  binary('a million empty containers', pods, 'v1', 'Pod', (name) => [objectMeta(name), field(2, empty(2))]);
  binary('99,000 empty containers', pods, 'v1', 'Pod', (name) => [objectMeta(name), field(2, empty(2, 99_000))]);
  binary('a million packed groups', pods, 'v1', 'Pod', (name) => [objectMeta(name), field(2, field(14, field(4, Buffer.alloc(READ, 1))))]);
  binary('a million groups', pods, 'v1', 'Pod', (name) => [objectMeta(name), field(2, field(14, text(READ - (READ % 2), '\x20\x01')))]);
  binary('40,000 quantities', pods, 'v1', 'Pod', (name) => [
    objectMeta(name),
    field(
      2,
      field(
        2,
        join(
          field(1, 'a'),
          field(
            8,
            times(30_000, (i) => field(1, join(field(1, `e.io/r${i}`), field(2, field(1, `${i}000m`))))),
          ),
        ),
      ),
    ),
  ]);
  const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const review = (spec) => [field(1), field(2, join(field(1, join(field(2, 'get'), field(5, 'pods'))), field(3, 'a'), spec))];
  binary('a million values of one extra', reviews, 'authorization.k8s.io/v1', 'SubjectAccessReview', () =>
    review(field(5, join(field(1, 'a'), field(2, empty(1))))),
  );
  binary('49,000 extras', reviews, 'authorization.k8s.io/v1', 'SubjectAccessReview', () =>
    review(times(49_000, (i) => field(5, entry(`x${i}`, field(1, 'v'))))),
  );
  binary('a million groups of a user', reviews, 'authorization.k8s.io/v1', 'SubjectAccessReview', () => review(empty(4)));
  post('decode JSON in the binary form', configMaps, { 'content-type': protobuf }, (name) =>
    envelope('v1', 'ConfigMap', bytes({ ...metadata('v1', 'ConfigMap', name), data: mapOf(90_000, shuffled, () => 'v') }), {
      tail: field(4, 'application/json'),
    }),
  );
  post('decode JSON pods in the binary form', pods, { 'content-type': protobuf }, (name) =>
    envelope('v1', 'Pod', bytes({ ...metadata('v1', 'Pod', name), spec: { containers: times(40_000, (i) => ({ name: `c${i}` })) } }), {
      tail: field(4, 'application/json'),
    }),
  );
  post('decode YAML in the binary form', configMaps, { 'content-type': protobuf }, (name) =>
    envelope('v1', 'ConfigMap', `${yamlMap(name)}${times(90_000, (i) => `  k${i}: v\n`).join('')}`, {
      tail: field(4, 'application/yaml'),
    }),
  );
  const converted = (name, make) =>
    add(
      `decode binary ${name}`,
      async (server) => {
        const { path, object } = make(fresh());
        const answer = await send(server, {
          method: 'POST',
          path: `${path}?dryRun=All`,
          headers: { ...asJson, accept: protobuf },
          body: bytes(object),
          keep: true,
        });
        if (answer.status >= 300) throw new Error(answer.text);
        return { method: 'POST', path: `${path}?dryRun=All`, headers: { 'content-type': protobuf }, body: answer.body };
      },
      { statuses },
    );
  converted('wide definition', (name) => ({ path: definitions, object: definition('wides', wideSchema(9_000), `${name}.example.com`) }));
  converted('definition with a large default', (name) => ({
    path: definitions,
    object: definition(
      'wides',
      {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        default: mapOf(
          19_000,
          (i) => `d${i}`,
          () => 'v',
        ),
      },
      `${name}.example.com`,
    ),
  }));

  // ---- managed fields in every format
  const managers = (count, fields) =>
    times(count, (i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: fields(i),
    }));
  const managed = (name, count, width) => ({
    ...metadata('v1', 'ConfigMap', name),
    metadata: {
      name,
      managedFields: managers(count, (i) => ({
        'f:data': mapOf(
          width,
          (j) => `f:k${i}-${j}`,
          () => ({}),
        ),
      })),
    },
    data: { a: 'b' },
  });
  for (const [count, width] of [
    [999, 90],
    [999, 40],
    [9, 9_000],
  ]) {
    post(`decode managed fields, ${count} of ${width}`, configMaps, asJson, (name) => managed(name, count, width));
    post(`decode YAML managed fields, ${count} of ${width}`, configMaps, yaml, (name) => yamlText(managed(name, count, width)));
    binaryMap(`managed fields, ${count} of ${width}`, (name) => [
      objectMeta(
        name,
        managed(name, count, width).metadata.managedFields.map(({ manager, fieldsV1 }) =>
          field(17, join(field(1, manager), field(2, 'Update'), field(3, 'v1'), field(6, 'FieldsV1'), field(7, field(1, fieldsV1)))),
        ),
      ),
      field(2, entry('a', 'b')),
    ]);
    const stored = async (server) => {
      const name = fresh();
      await send(server, { method: 'POST', path: configMaps, headers: asJson, body: bytes(plainMap(name)) });
      return name;
    };
    add(
      `update managed fields, ${count} of ${width}`,
      async (server) => {
        const name = await stored(server);
        return { method: 'PUT', path: `${configMaps}/${name}`, headers: asJson, body: bytes(managed(name, count, width)) };
      },
      { statuses },
    );
    for (const [form, type] of Object.entries(patchTypes))
      add(
        `patch managed fields by ${form}, ${count} of ${width}`,
        async (server) => {
          const name = await stored(server);
          const { metadata: meta } = managed(name, count, width);
          const body = form === 'JSON' ? [{ op: 'add', path: '/metadata/managedFields', value: meta.managedFields }] : { metadata: meta };
          return { method: 'PATCH', path: `${configMaps}/${name}`, headers: { 'content-type': type }, body: bytes(body) };
        },
        { statuses },
      );
    for (const [form, headers] of Object.entries(forms))
      add(
        `read managed fields as ${form}, ${count} of ${width}`,
        async (server) => {
          const name = await stored(server);
          await send(server, { method: 'PUT', path: `${configMaps}/${name}`, headers: asJson, body: bytes(managed(name, count, width)) });
          return { path: `${configMaps}/${name}${form === 'pretty' ? '?pretty=true' : ''}`, headers };
        },
        { statuses: [...statuses, 406] },
      );
  }

  // ---- YAML
  const yamlCase = (name, make) => post(`decode YAML ${name}`, configMaps, yaml, make);
  const value = (name, make) => yamlCase(name, (made) => `${yamlMap(made)}  a: ${make()}\n`);
  value('blank lines in double quotes', () => `"${text(READ - 400, '\n')}"`);
  value('blank lines in single quotes', () => `'${text(READ - 400, '\n')}'`);
  value('escaped line ends in quotes', () => `"${text(READ - 400 - (READ % 2), '\\\n')}"`);
  value('lines of blanks in quotes', () => `"${text(READ - 400, ' \n')}"`);
  value('one blank line in quotes', () => `"\n${text(READ - 400, ' ')}"`);
  value('blanks before line ends in quotes', () => `"a${text(READ - 400, ' ')}\n"`);
  value('blank lines in a literal', () => `|\n${text(READ - 400, '\n')}    a`);
  value('blank lines in a folded text', () => `>+\n    a\n${text(READ - 400, '\n')}`);
  value('blank lines in plain text', () => `a\n${text(READ - 400, '\n')}    b`);
  value('lines of one letter in a folded text', () => `>\n${text(READ - 400, '    a\n')}`);
  value('a long tag', () => `!${text(READ - 400)} b`);
  value('a long anchor', () => `&${text(READ - 400)} b`);
  value('a long alias', () => `*${text(READ - 400)}`);
  value('a long flow list', () => `[${text(READ - 400, '[],')}]`);
  value('a flow list of numbers', () => `[${text(READ - 400 - (READ % 2), '1,')}]`);
  value('a flow list of blank lines', () => `[${text(READ - 400, '\n')}]`);
  value('a flow list of commas', () => `[${text(READ - 400, ',')}]`);
  value('a flow map of quoted keys', () => `{${times(90_000, (i) => `"k${i}": v`).join(',')}}`);
  value('a flow map of the same key', () => `{${times(90_000, () => 'k: v').join(',')}}`);
  yamlCase('a million CRLF lines', (name) => `${yamlMap(name)}  a: b\r\n${text(READ - 400 - (READ % 2), '\r\n')}`);
  yamlCase('a million CR', (name) => `${yamlMap(name)}  a: b\r${text(READ - 400, '\r')}`);
  yamlCase('CRLF lines of entries', (name) => `${yamlMap(name)}${times(90_000, (i) => `  k${i}: v\r\n`).join('')}`);
  yamlCase('a million blank lines', (name) => `${yamlMap(name)}  a: b\n${text(READ - 400, '\n')}c`);
  yamlCase('one long line of blanks', (name) => `${yamlMap(name)}  a: b\n${text(READ - 400, ' ')}`);
  yamlCase('a million comments', (name) => `${yamlMap(name)}  a: b\n${text(READ - 400 - (READ % 2), '#\n')}`);
  yamlCase('an error in the last line', (name) => `${yamlMap(name)}  a: b\n${text(READ - 400, '\n')}  a b: "`);
  yamlCase('directives', (name) => `${text(READ - 400 - (READ % 3), '%a\n')}---\n${yamlMap(name)}`);
  yamlCase('documents', (name) => `${yamlMap(name)}${text(READ - 400 - (READ % 4), '---\n')}`);
  yamlCase('ends of documents', (name) => `${yamlMap(name)}${text(READ - 400 - (READ % 4), '...\n')}`);
  const quotedKeys = (name, quote, key) => `${yamlMap(name)}${times(90_000, (i) => `  ${quote}${key(i)}${quote}: v\n`).join('')}`;
  yamlCase('90,000 quoted keys', (name) => quotedKeys(name, '"', (i) => `k${i}`));
  yamlCase('90,000 quoted keys out of order', (name) => quotedKeys(name, "'", shuffled));
  yamlCase('90,000 keys with escapes', (name) => quotedKeys(name, '"', (i) => `\\x6b${i}`));
  yamlCase('90,000 plain keys', (name) => quotedKeys(name, '', shuffled));
  yamlCase('90,000 long explicit keys', (name) => `${yamlMap(name)}${times(90_000, (i) => `  ? k${i}\n  : v\n`).join('')}`);
  yamlCase('2,900 keys of 1,000 characters', (name) => quotedKeys(name, '"', (i) => `${text(990, '\\n')}${i}`).slice(0, READ - 1));
  for (const strict of ['', '?fieldValidation=Strict']) {
    post(`decode YAML 90,000 equal keys${strict && ', strict'}`, configMaps + strict, yaml, (name) => quotedKeys(name, '"', () => 'k'));
    post(`decode YAML 90,000 keys set twice${strict && ', strict'}`, configMaps + strict, yaml, (name) =>
      quotedKeys(name, '"', (i) => `k${i % 45_000}`),
    );
    post(
      `decode YAML 90,000 unknown fields${strict && ', strict'}`,
      configMaps + strict,
      yaml,
      (name) => `${times(90_000, (i) => `u${shuffled(i)}: v\n`).join('')}${yamlMap(name)}`,
    );
    post(
      `decode 90,000 equal keys${strict && ', strict'}`,
      configMaps + strict,
      asJson,
      (name) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{${text(90_000 * 8, '"k":"v",')}"a":"b"}}`,
    );
    post(
      `decode 50,000 objects of the same key${strict && ', strict'}`,
      configMaps + strict,
      asJson,
      (name) =>
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},${times(45_000, (i) => `"data":{"k${i}":"v"}`).join(',')}}`,
    );
  }
  const base = (size) => `b: &b\n${times(size, (i) => `  k${i}: v\n`).join('')}`;
  yamlCase('merge keys, 1,000 of 900', (name) => `${base(900)}${yamlMap(name)}  a: b\nm:\n${text(1_000 * 8, '- <<: *b\n')}\n`);
  yamlCase(
    'merge keys, 900 lists of 100',
    (name) => `${base(100)}${yamlMap(name)}  a: b\nm:\n${times(900, () => `- <<: [${text(99 * 3, '*b,')}*b]\n`).join('')}`,
  );
  yamlCase('merge keys, one of 90,000', (name) => `${base(45_000)}${yamlMap(name)}  <<: *b\n`);
  yamlCase('merge keys, 45,000 of one', (name) => `${base(1)}${yamlMap(name)}  a: b\nm:\n${times(45_000, () => '- <<: *b\n').join('')}`);
  yamlCase(
    'merge keys of merge keys',
    (name) =>
      `m0: &m0\n${times(90, (i) => `  k${i}: v\n`).join('')}${times(900, (i) => `m${i + 1}: &m${i + 1}\n  <<: *m${i}\n`).join('')}${yamlMap(name)}`,
  );
  yamlCase('an alias of 45,000 lists', (name) => `b: &b [${text(3 * 45_000, '[],')}]\nc: *b\n${yamlMap(name)}`);
  yamlCase('an alias of 45,000 keys', (name) => `${base(45_000)}c: *b\n${yamlMap(name)}`);
  yamlCase('45,000 aliases of a list', (name) => `b: &b []\nc:\n${text(45_000 * 5, '- *b\n')}${yamlMap(name)}`);
  yamlCase('45,000 anchors', (name) => `c:\n${times(45_000, (i) => `- &a${i} b\n`).join('')}${yamlMap(name)}`);
  yamlCase('a million dashes', (name) => `c:\n${text(READ - 400 - (READ % 2), '-\n')}${yamlMap(name)}`);
  yamlCase(
    'JSON that is not',
    (name) =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{${times(45_000, (i) => `"k${i}":"v"`).join(',')}}}\n#`,
  );

  // ---- JSON
  const json = (name, make, path = configMaps) => post(`decode JSON ${name}`, path, asJson, make);
  const around = (name, data) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":${data}}`;
  json('one text of escapes', (name) => around(name, `{"a":"${text(READ - 402, '\\u0041')}"}`));
  json('one text of escapes and 19,000 keys', (name) =>
    around(name, `{${times(19_000, (i) => `"k${i}":"v"`).join(',')},"a":"${text(2_000_000 - (2_000_000 % 6), '\\u0041')}"}`),
  );
  json('one text of escapes and 25,000 keys', (name) =>
    around(name, `{${times(25_000, (i) => `"k${i}":"v"`).join(',')},"a":"${text(2_000_000 - (2_000_000 % 6), '\\u0041')}"}`),
  );
  json('one text of surrogates', (name) => around(name, `{"a":"${text(READ - 402 - (READ % 6), '\\ud800')}"}`));
  json('one text of quotes', (name) => around(name, `{"a":"${text(READ - 400 - (READ % 2), '\\"')}"}`));
  json('one text of escapes, not ended', (name) => around(name, `{"a":"${text(READ - 402 - (READ % 6), '\\u0041')}"`));
  json('one long text and an error', (name) => `${around(name, `{"a":"${text(READ - 400)}"}`)}x`);
  json('blanks', (name) => around(name, `{${text(READ - 400, ' ')}}`));
  json('blanks and an error', (name) => `${around(name, `{${text(READ - 400, ' ')}}`)}x`);
  json('19,900 keys in any order', (name) => around(name, JSON.stringify(mapOf(19_900, shuffled, () => text(60)))));
  json('90,000 keys in any order', (name) => around(name, JSON.stringify(mapOf(90_000, shuffled, () => 'v'))));
  json('90,000 labels in any order', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), metadata: { name, labels: mapOf(90_000, shuffled, () => 'v') } }),
  );
  json('90,000 numbers as keys', (name) =>
    around(
      name,
      JSON.stringify(
        mapOf(
          90_000,
          (i) => `${i * 7}`,
          () => 'v',
        ),
      ),
    ),
  );
  json('90,000 nulls', (name) => around(name, JSON.stringify(mapOf(90_000, shuffled, () => null))));
  json('90,000 binary data', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), binaryData: mapOf(90_000, shuffled, () => 'eA==') }),
  );
  json('one long binary data', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), binaryData: { a: text(READ - 400 - (READ % 4), 'eHh4') } }),
  );
  json('one long binary data with line ends', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), binaryData: { a: text(READ - 400 - (READ % 6), 'eHh4\n') } }).slice(0, READ),
  );
  json('one long number', (name) => around(name, `{"a":${text(READ - 400, '1')}}`));
  json('one long fraction', (name) => around(name, `{"a":0.${text(READ - 400, '1')}}`));
  json('long numbers', (name) => around(name, `{"a":[${text(READ - 400 - (READ % 21), '12345678901234567890,')}1]}`));
  json('a million fractions', (name) => around(name, `{"a":[${text(READ - 400 - (READ % 4), '1.5,')}1]}`));
  json('a million numbers', (name) => around(name, `{"a":[${text(READ - 400 - (READ % 2), '1,')}1]}`));
  json('a million unknown numbers', (name) => around(name, `{},"x":[${text(READ - 400 - (READ % 2), '1,')}1]`));
  json(
    'a million groups',
    (name) =>
      JSON.stringify({
        ...metadata('v1', 'Pod', name),
        spec: { containers: [{ name: 'a', image: 'b' }], securityContext: { supplementalGroups: new Array(1_400_000).fill(1) } },
      }),
    pods,
  );
  json(
    'a million arguments',
    (name) =>
      JSON.stringify({
        ...metadata('v1', 'Pod', name),
        spec: { containers: [{ name: 'a', image: 'b', args: new Array(900_000).fill('') }] },
      }),
    pods,
  );
  json(
    '400,000 arguments',
    (name) =>
      JSON.stringify({
        ...metadata('v1', 'Pod', name),
        spec: { containers: [{ name: 'a', image: 'b', args: new Array(300_000).fill('') }] },
      }),
    pods,
  );
  json(
    'a million free numbers',
    (name) => JSON.stringify({ ...metadata('worst.example.com/v1', 'Thing', name), spec: { free: { a: new Array(600_000).fill(1) } } }),
    custom,
  );
  json(
    '600 nested lists, many times',
    (name) =>
      JSON.stringify({
        ...metadata('worst.example.com/v1', 'Thing', name),
        spec: { free: { a: times(150, () => JSON.parse(`${text(600, '[')}${text(600, ']')}`)) } },
      }),
    custom,
  );
  json(
    '99,000 empty objects',
    (name) => JSON.stringify({ ...metadata('v1', 'Pod', name), spec: { containers: times(99_000, () => ({})) } }),
    pods,
  );
  json('99,000 objects where texts belong', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), data: times(99_000, () => ({})) }),
  );
  json('one long text for a list', (name) => JSON.stringify({ ...metadata('v1', 'Pod', name), spec: text(READ - 400) }), pods);
  json('a long time', (name) =>
    JSON.stringify({ ...metadata('v1', 'ConfigMap', name), metadata: { name, creationTimestamp: text(READ - 400, '1') } }),
  );
  json(
    'a long quantity',
    (name) =>
      JSON.stringify({
        ...metadata('v1', 'Pod', name),
        spec: { containers: [{ name: 'a', image: 'b', resources: { limits: { cpu: text(READ - 400, '1') } } }] },
      }),
    pods,
  );
  json(
    '40,000 quantities',
    (name) =>
      JSON.stringify({
        ...metadata('v1', 'Pod', name),
        spec: {
          containers: [
            {
              name: 'a',
              image: 'b',
              resources: {
                limits: mapOf(
                  40_000,
                  (i) => `example.com/r${i}`,
                  (i) => `${i}000m`,
                ),
              },
            },
          ],
        },
      }),
    pods,
  );
  json(
    'a selector of 40,000 labels',
    (name) =>
      JSON.stringify({ ...metadata('v1', 'Service', name), spec: { ports: [{ port: 80 }], selector: mapOf(40_000, shuffled, () => 'v') } }),
    `${inNamespace}/services`,
  );
  json(
    'a selector with 90,000 values',
    (name) =>
      JSON.stringify({
        ...metadata('policy/v1', 'PodDisruptionBudget', name),
        spec: { minAvailable: 1, selector: { matchExpressions: [{ key: 'a', operator: 'In', values: times(90_000, (i) => `v${i}`) }] } },
      }),
    `/apis/policy/v1/namespaces/${NS}/poddisruptionbudgets`,
  );

  // ---- options of a deletion
  for (const [name, body] of Object.entries({
    'dry runs': () => ({ dryRun: new Array(700_000).fill('') }),
    'unknown fields': () => mapOf(90_000, shuffled, () => 'v'),
    'equal fields': () => `{${text(90_000 * 10, '"kind":"",')}"kind":"DeleteOptions"}`,
    'a long text': () => ({ preconditions: { uid: text(READ - 400) } }),
    'deep lists': () => `{"x":${text(900, '[')}${text(900, ']')}}`,
  })) {
    add(`delete options ${name}`, () => ({ method: 'DELETE', path: `${configMaps}/none`, headers: asJson, body: bytes(body()) }), {
      statuses,
    });
    add(
      `delete options ${name}, collection`,
      () => ({ method: 'DELETE', path: `${configMaps}?labelSelector=none`, headers: asJson, body: bytes(body()) }),
      { statuses },
    );
  }
  add(
    'delete options YAML',
    () => ({
      method: 'DELETE',
      path: `${configMaps}/none`,
      headers: yaml,
      body: bytes(`dryRun:\n${text(READ - 400 - (READ % 5), '- ""\n')}`),
    }),
    { statuses },
  );
  add(
    'delete options binary',
    () => ({
      method: 'DELETE',
      path: `${configMaps}/none`,
      headers: { 'content-type': protobuf },
      body: envelope('v1', 'DeleteOptions', empty(5)),
    }),
    { statuses },
  );
  add(
    'delete options binary, preconditions',
    () => ({
      method: 'DELETE',
      path: `${configMaps}/none`,
      headers: { 'content-type': protobuf },
      body: envelope('v1', 'DeleteOptions', empty(2, 99_000)),
    }),
    { statuses },
  );

  // ---- subresources that take a body of their own
  const account = `${inNamespace}/serviceaccounts/default/token`;
  post('decode token request, audiences', account, asJson, () => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: times(200_000, (i) => `a${i}`) },
  }));
  post('decode token request, one audience', account, asJson, () => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: [text(READ - 400)] },
  }));
  post('decode binding', `${inNamespace}/bindings`, asJson, (name) => ({
    ...metadata('v1', 'Binding', name),
    metadata: { name, labels: mapOf(90_000, shuffled, () => 'v') },
    target: { name: 'n' },
  }));
  post('decode eviction', `${pods}/none/eviction`, asJson, () => ({
    ...metadata('policy/v1', 'Eviction', 'none'),
    deleteOptions: { dryRun: new Array(700_000).fill('') },
  }));

  // ---- patches
  const patch = (name, type, make, { path = configMaps, start = /** @type {(name: string) => object} */ (plainMap) } = {}) =>
    add(
      `decode patch ${name}`,
      async (server) => {
        const made = fresh();
        await must(server, 'POST', path, start(made));
        return { method: 'PATCH', path: `${path}/${made}`, headers: { 'content-type': type }, body: bytes(make(made)) };
      },
      { statuses },
    );
  const operations = (count, make) => JSON.stringify(times(count, make));
  patch('JSON, 10,000 adds', patchTypes.JSON, () => operations(10_000, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'v' })));
  patch('JSON, 10,000 labels', patchTypes.JSON, () =>
    operations(10_000, (i) => ({ op: 'add', path: i === 0 ? '/metadata/labels' : `/metadata/labels/k${i}`, value: i === 0 ? {} : 'v' })),
  );
  patch('JSON, 10,000 replaces of the whole', patchTypes.JSON, (name) =>
    operations(5_000, () => ({ op: 'replace', path: '', value: plainMap(name) })),
  );
  patch('JSON, 10,000 deep pointers', patchTypes.JSON, () => operations(10_000, () => ({ op: 'test', path: text(200, '/a'), value: 'v' })));
  patch('JSON, 10,000 pointers of escapes', patchTypes.JSON, () =>
    operations(10_000, (i) => ({ op: 'add', path: `/data/${text(120, '~1')}${i}`, value: 'v' })),
  );
  patch('JSON, 99,000 operations', patchTypes.JSON, () => operations(30_000, () => ({ op: 'test', path: '/data/a', value: 'b' })));
  patch('JSON, 99,000 empty operations', patchTypes.JSON, () => operations(99_000, () => ({})));
  patch('JSON, a test of a large value', patchTypes.JSON, () =>
    operations(1, () => ({ op: 'test', path: '/data', value: mapOf(90_000, shuffled, () => 'v') })),
  );
  patch('JSON, a million numbers', patchTypes.JSON, () => `[${text(READ - 400 - (READ % 2), '1,')}1]`);
  patch('merge, 90,000 labels', patchTypes.merge, () => ({ metadata: { labels: mapOf(90_000, shuffled, () => 'v') } }));
  patch('merge, 90,000 nulls', patchTypes.merge, () => ({ metadata: { labels: mapOf(90_000, shuffled, () => null) } }));
  patch('merge, 90,000 unknown fields', patchTypes.merge, () => mapOf(90_000, shuffled, () => 'v'));
  patch('merge, a million numbers', patchTypes.merge, () => `{"data":[${text(READ - 400 - (READ % 2), '1,')}1]}`);
  patch('merge, custom, 90,000 keys', patchTypes.merge, () => ({ spec: { free: mapOf(45_000, shuffled, () => 'v') } }), {
    path: custom,
    start: (name) => metadata('worst.example.com/v1', 'Thing', name),
  });
  patch('strategic, 90,000 labels', patchTypes.strategic, () => ({ metadata: { labels: mapOf(90_000, shuffled, () => 'v') } }));
  patch('strategic, 90,000 directives', patchTypes.strategic, () => ({
    metadata: mapOf(
      90_000,
      (i) => `$deleteFromPrimitiveList/${shuffled(i)}`,
      () => ['v'],
    ),
  }));
  patch('strategic, 45,000 maps replaced', patchTypes.strategic, () => ({ data: mapOf(45_000, shuffled, () => ({ $patch: 'replace' })) }));
  patch('strategic, 45,000 kept keys', patchTypes.strategic, () => ({ data: { $retainKeys: times(90_000, shuffled) } }));
  patch(
    'strategic, retain keys of volumes',
    patchTypes.strategic,
    () => ({
      spec: { template: { spec: { volumes: times(9_000, (i) => ({ name: `v${i}`, $retainKeys: ['name', 'emptyDir'], emptyDir: {} })) } } },
    }),
    { path: deployments, start: deployment },
  );
  patch(
    'strategic, 19,900 replaced env',
    patchTypes.strategic,
    () => ({
      spec: {
        template: { spec: { containers: [{ name: 'a', env: [{ $patch: 'replace' }, ...times(19_900, (i) => ({ name: `E${i}` }))] }] } },
      },
    }),
    { path: deployments, start: deployment },
  );
  const apply = (name, make, path = configMaps) =>
    add(
      `decode apply ${name}`,
      () => {
        const made = fresh();
        return {
          method: 'PATCH',
          path: `${path}/${made}?fieldManager=one&force=true`,
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: bytes(make(made)),
        };
      },
      { statuses },
    );
  apply('90,000 labels', (name) => ({
    ...metadata('v1', 'ConfigMap', name),
    metadata: { name, labels: mapOf(90_000, shuffled, () => 'v') },
  }));
  apply('19,900 labels', (name) => ({
    ...metadata('v1', 'ConfigMap', name),
    metadata: { name, labels: mapOf(19_900, shuffled, () => 'v') },
  }));
  apply('19,900 quoted keys', (name) => `${yamlMap(name)}${times(19_900, (i) => `  "${shuffled(i)}": v\n`).join('')}`);
  apply(
    'a set of 19,900',
    (name) => ({ ...metadata('worst.example.com/v1', 'Thing', name), spec: { set: times(19_900, shuffled) } }),
    custom,
  );
  apply(
    'a set of 100,000',
    (name) => ({ ...metadata('worst.example.com/v1', 'Thing', name), spec: { set: times(100_000, shuffled) } }),
    custom,
  );
  apply(
    '19,900 ports',
    (name) => ({ ...metadata('v1', 'Service', name), spec: { ports: times(19_900, (i) => ({ port: i + 1, protocol: 'TCP' })) } }),
    `${inNamespace}/services`,
  );

  // ---- what stands in the URL
  const query = (name, path, more = {}) => add(`decode query ${name}`, () => ({ path }), { statuses: [200, 400, 404, 414, 431], ...more });
  const requirements = (count, make) => encodeURIComponent(times(count, make).join(','));
  for (const count of [1_500, 4_990]) {
    query(`${count} absent labels`, `${configMaps}?labelSelector=${requirements(count, (i) => `!k${i}`)}`);
    query(`${count} present labels`, `${configMaps}?labelSelector=${requirements(count, (i) => `k${i}`)}`);
    query(`${count} label values`, `${configMaps}?labelSelector=${requirements(count, (i) => `k${i}=v`)}`);
    query(`${count} empty requirements`, `${configMaps}?labelSelector=${requirements(count, () => '')}`);
    query(`${count} equal requirements`, `${configMaps}?labelSelector=${requirements(count, () => 'a=b')}`);
    query(`${count} fields`, `${configMaps}?fieldSelector=${requirements(count, (i) => `metadata.name!=n${i}`)}`);
    query(`${count} unknown fields`, `${configMaps}?fieldSelector=${requirements(count, (i) => `f${i}=v`)}`);
    query(`${count} labels of a watch`, `${configMaps}?watch=1&timeoutSeconds=1&labelSelector=${requirements(count, (i) => `!k${i}`)}`);
    add(
      `decode query ${count} labels of a deletion`,
      () => ({ method: 'DELETE', path: `${configMaps}?labelSelector=x,${requirements(count, (i) => `!k${i}`)}` }),
      { statuses: [200, 400, 414, 431] },
    );
  }
  query('escapes', `${configMaps}?labelSelector=${text(60_000, '%61')}`);
  query('spaces', `${configMaps}?labelSelector=${text(60_000, '+')}`);
  query('one long value', `${configMaps}?labelSelector=a=${text(60_000)}`);
  query('20,000 parameters', `${configMaps}?${text(60_000, 'a&b')}`);
  query('dry runs', `${configMaps}?${text(60_000 - (60_000 % 11), 'dryRun=All&')}limit=1`);
  query('a long continue token', `${configMaps}?limit=1&continue=${text(60_000)}`);
  query('parameters of a connection', `${pods}/none/exec?${text(60_000 - (60_000 % 10), 'command=a&')}stdout=1`);
  query('a long name', `${configMaps}/${text(60_000)}`);
  query('a long escaped name', `${configMaps}/${text(60_000, '%61')}`);
  query('slashes', text(60_000, '/'));

  // ---- documents that the server makes of its kinds, the first time and after a change
  const changed = (name, path, headers = {}) =>
    add(
      `document ${name}`,
      async (server) => {
        const group = `${fresh()}.example.com`;
        await must(server, 'POST', definitions, definition('documents', undefined, group));
        await ready(server, `/apis/${group}/v1/documents`);
        return { path, headers };
      },
      { statuses: [200, 406] },
    );
  const openapiBinary = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' };
  changed('OpenAPI v2 binary after a change', '/openapi/v2', openapiBinary);
  changed('OpenAPI v2 after a change', '/openapi/v2');
  changed('OpenAPI v2 zipped after a change', '/openapi/v2', { 'accept-encoding': 'gzip' });
  changed('OpenAPI v3 after a change', '/openapi/v3');
  changed('OpenAPI v3 of the core after a change', '/openapi/v3/api/v1');
  changed('OpenAPI v3 of apps after a change', '/openapi/v3/apis/apps/v1');
  changed('groups after a change', '/apis');
  changed('resources after a change', '/apis/worst.example.com/v1');
  add('document all of OpenAPI v3', () =>
    [
      '/openapi/v2',
      '/openapi/v3',
      ...times(1, () => '/openapi/v3/api/v1'),
      '/openapi/v3/apis/apps/v1',
      '/openapi/v3/apis/batch/v1',
      '/openapi/v3/apis/apiextensions.k8s.io/v1',
    ].map((path) => ({ path })),
  );
  add('document discovery of everything', () =>
    ['/api', '/apis', '/api/v1', '/apis/apps/v1', '/apis/batch/v1', '/version', '/metrics'].map((path) => ({ path })),
  );
}

const plainMap = (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: 'b' } });
const deployments = `/apis/apps/v1/namespaces/${NS}/deployments`;
const deployment = (name) => ({
  ...metadata('apps/v1', 'Deployment', name),
  spec: {
    replicas: 0,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  },
});
const patchTypes = {
  JSON: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const forms = {
  YAML: { accept: 'application/yaml' },
  pretty: {},
  binary: { accept: protobuf },
  'Table with the object': { accept: table },
  'metadata in YAML': { accept: 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
};

/** The head of a config map in YAML, up to its data. */
const yamlMap = (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n`;
/** An object in block style. */
function yamlText(value, indent = '') {
  if (Array.isArray(value)) return value.map((item) => `${indent}- ${yamlText(item, `${indent}  `).trimStart()}`).join('');
  const lines = Object.entries(value).map(([key, item]) => {
    if (typeof item !== 'object') return `${indent}"${key}": "${item}"\n`;
    return Object.keys(item).length === 0 ? `${indent}"${key}": {}\n` : `${indent}"${key}":\n${yamlText(item, `${indent}  `)}`;
  });
  return lines.join('');
}

async function ready(server, path) {
  for (let i = 0; i < 200; i++) {
    if ((await send(server, { path })).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} is not served`);
}
