// The requests of bench/worst.mjs. A case is a name and a function that makes the request; what it needs is created before.

import { bodies, definition, metadata, repeat } from './worst-bodies.mjs';
import { addDecoderCases } from './worst-decoders.mjs';
import { addFormCases } from './worst-forms.mjs';
import { allowEdit, asJson, must, send } from './worst-server.mjs';

/** The largest body that is read, and one whose object can be stored. */
const READ = Math.floor(2.9 * 2 ** 20);
const STORED = Math.floor(1.3 * 2 ** 20);
const ITEMS = 10_000;
const NS = 'worst';
const inNamespace = `/api/v1/namespaces/${NS}`;
const custom = `/apis/worst.example.com/v1/namespaces/${NS}/things`;
const bytes = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const text = (length, part = 'a') => part.repeat(Math.ceil(length / part.length)).slice(0, length);
let serial = 0;
const fresh = () => `w${++serial}`;

async function inParallel(count, width, run) {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await run(next++);
    }),
  );
}

// ---- what cases need -------------------------------------------------------------------------------------------

const thing = (name, spec = {}) => ({ apiVersion: 'worst.example.com/v1', kind: 'Thing', metadata: { name }, spec });
async function ready(server, path) {
  for (let i = 0; i < 200; i++) {
    if ((await send(server, { path })).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} is not served`);
}

/** What a seed builds upon. */
export const seedOrder = { things: ['namespace', 'pods'], configMaps: ['pods'] };

export const seed = {
  async namespace(server) {
    await must(server, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    await allowEdit(server, NS);
    await must(server, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'worst-edit', labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
      rules: [{ apiGroups: ['worst.example.com'], resources: ['*'], verbs: ['*'] }],
    });
    await must(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('things'));
    await ready(server, custom);
  },
  async pods(server) {
    await must(server, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
    await allowEdit(server, 'many');
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await send(server, { method: 'POST', path: '/api/v1/namespaces/many/serviceaccounts', headers: asJson, body: bytes(account) });
    await inParallel(ITEMS, 16, (i) => must(server, 'POST', '/api/v1/namespaces/many/pods', pod(`p${i}`)));
  },
  async things(server) {
    await inParallel(ITEMS, 16, (i) =>
      must(server, 'POST', custom.replace(`/${NS}/`, '/many/'), thing(`t${i}`, { note: text(300), n: i })),
    );
  },
  async configMaps(server) {
    await inParallel(ITEMS, 16, (i) => {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `c${i}`, labels: { app: 'x', n: `${i}` } },
        data: { a: text(200) },
      };
      return must(server, 'POST', '/api/v1/namespaces/many/configmaps', object);
    });
  },
};
const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'many', index: name, a: '1', b: '2' } },
  spec: {
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'main',
        image: 'registry.example/app:1.2.3',
        command: ['/app', '--port=8080'],
        env: [{ name: 'A', value: 'one' }],
        ports: [{ containerPort: 8080 }],
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
      },
    ],
  },
});

// ---- objects with one long list or wide map --------------------------------------------------------------------

export const cases = [];
const add = (name, request, more = {}) => cases.push({ name, request, needs: 'namespace', ...more });

function create(name, { path, make }, size, { query = '', headers = asJson, write = bytes } = {}) {
  let made;
  add(
    name,
    () => {
      const object = make(fresh(), size);
      made = `${path}/${object.metadata?.name}`;
      return { method: 'POST', path: path + query, headers, body: write(object) };
    },
    {
      statuses: [200, 201, 400, 413, 422],
      after: (server) => send(server, { method: 'DELETE', path: `${made}?gracePeriodSeconds=0` }),
    },
  );
}
for (const body of bodies) {
  create(`create ${body.name}, stored size`, body, STORED);
  create(`create ${body.name}, largest body`, body, READ);
}

/** The same object in the binary form, as the server itself writes it. */
const protobuf = 'application/vnd.kubernetes.protobuf';
for (const name of ['pod containers', 'pod env', 'pod volumes', 'pod labels', 'config map data', 'role rules', 'pod owners']) {
  const body = bodies.find((one) => one.name === name);
  let made;
  add(
    `create binary ${name}, stored size`,
    async (server) => {
      const object = body.make(fresh(), STORED);
      made = `${body.path}/${object.metadata.name}`;
      const headers = { ...asJson, accept: protobuf };
      const answer = await send(server, { method: 'POST', path: `${body.path}?dryRun=All`, headers, body: bytes(object), keep: true });
      if (answer.status !== 201) return { method: 'POST', path: body.path, headers, body: bytes(object) };
      return { method: 'POST', path: body.path, headers: { 'content-type': protobuf, accept: protobuf }, body: answer.body };
    },
    { after: (server) => send(server, { method: 'DELETE', path: `${made}?gracePeriodSeconds=0` }) },
  );
}
for (const name of ['config map data', 'pod containers', 'thing deep']) {
  const body = bodies.find((one) => one.name === name);
  create(`create strict ${name}`, body, STORED, { query: '?fieldValidation=Strict' });
}
{
  const body = bodies.find(({ name }) => name === 'config map data');
  const yaml = { 'content-type': 'application/yaml' };
  const write = (object) => {
    const lines = Object.entries(object.data).map(([key, value]) => `  ${key}: "${value}"`);
    return bytes(`apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${object.metadata.name}\ndata:\n${lines.join('\n')}\n`);
  };
  create('create YAML config map data, stored size', body, STORED, { headers: yaml, write });
  create('create YAML config map data, largest body', body, READ, { headers: yaml, write });
  const aliases = (object, size) => {
    const count = Math.floor(size / 12);
    const list = Array.from({ length: count }, (_, i) => `  k${i}: *a`);
    return bytes(
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${object.metadata.name}\ndata:\n  first: &a "${text(100)}"\n${list.join('\n')}\n`,
    );
  };
  create('create YAML aliases, many of a short text', body, STORED, { headers: yaml, write: (object) => aliases(object, STORED) });
  const bomb = (object) => {
    const list = Array.from({ length: 600 }, (_, i) => `  k${i}: *a`);
    return bytes(
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${object.metadata.name}\ndata:\n  first: &a "${text(2 ** 20)}"\n${list.join('\n')}\n`,
    );
  };
  create('create YAML aliases, 600 of a long text', body, STORED, { headers: yaml, write: bomb });
  // One value that takes the whole body, in every way to write a text.
  const indented = (line) => text(READ - 400, `    ${line}\n`);
  const scalars = {
    plain: text(READ - 400, 'a '),
    'plain, lines': `a\n${indented('b')}`,
    'in double quotes': `"${text(READ - 400)}"`,
    'of escapes': `"${text(READ - 400, '\\n')}"`,
    'in single quotes': `'${text(READ - 400, "''")}'`,
    'in quotes, lines': `"${indented('b')}"`,
    'of a number': text(READ - 400, '1'),
    'of a number with underscores': text(READ - 400, '1_'),
    'of binary data': `!!binary ${text(READ - 400, 'eHh4')}`,
    literal: `|\n${indented('b')}`,
    folded: `>\n${indented('b')}`,
    'folded, one line': `>\n    ${text(READ - 400)}\n`,
    'of comments': `a\n${text(READ - 400, '#\n')}`,
  };
  for (const [name, scalar] of Object.entries(scalars))
    create(`create YAML scalar ${name}`, body, READ, {
      headers: yaml,
      write: (object) => bytes(`apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${object.metadata.name}\ndata:\n  a: ${scalar}\n`),
    });
}

addDecoderCases(add);
addFormCases(add);

// ---- faults: every entry is wrong -------------------------------------------------------------------------------

function faulty(name, path, make) {
  for (const query of ['', '?fieldValidation=Strict'])
    add(
      `faulty ${name}${query === '' ? '' : ', strict'}`,
      () => ({ method: 'POST', path: path + query, headers: asJson, body: bytes(make(fresh())) }),
      {
        statuses: [200, 201, 400, 413, 422],
        after: undefined,
      },
    );
}
const map = (size, key, value) => repeat(size, (i) => [key(i), value(i)], Object.fromEntries, 4);
faulty('labels', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  metadata: {
    name,
    labels: map(
      STORED,
      (i) => `-${i}`,
      () => 'v',
    ),
  },
}));
faulty('label values', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  metadata: {
    name,
    labels: map(
      STORED,
      (i) => `k${i}`,
      () => '-v',
    ),
  },
}));
faulty('data keys', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  data: map(
    STORED,
    (i) => `/${i}`,
    () => 'v',
  ),
}));
faulty('unknown fields', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  ...map(
    STORED,
    (i) => `u${i}`,
    () => 'v',
  ),
}));
faulty('containers', `${inNamespace}/pods`, (name) => ({
  ...metadata('v1', 'Pod', name),
  spec: { containers: repeat(STORED, () => ({ name: '-' })) },
}));
faulty('same containers', `${inNamespace}/pods`, (name) => ({
  ...metadata('v1', 'Pod', name),
  spec: { containers: repeat(STORED, () => ({ name: 'a', image: 'b' })) },
}));
faulty('env', `${inNamespace}/pods`, (name) => ({
  ...metadata('v1', 'Pod', name),
  spec: { containers: [{ name: 'a', image: 'b', env: repeat(STORED, () => ({ name: '=' })) }] },
}));
faulty('volumes', `${inNamespace}/pods`, (name) => ({
  ...metadata('v1', 'Pod', name),
  spec: { containers: [{ name: 'a', image: 'b' }], volumes: repeat(STORED, () => ({ name: '-' })) },
}));
faulty('owners', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  metadata: { name, ownerReferences: repeat(STORED, () => ({ name: '-' })) },
}));
faulty('finalizers', `${inNamespace}/configmaps`, (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  metadata: { name, finalizers: repeat(STORED, () => '-') },
}));
faulty('thing numbers', custom, (name) => thing(name, { numbers: repeat(STORED, () => 'x') }));
faulty('role rules', `/apis/rbac.authorization.k8s.io/v1/namespaces/${NS}/roles`, (name) => ({
  ...metadata('rbac.authorization.k8s.io/v1', 'Role', name),
  rules: repeat(STORED, () => ({})),
}));

// ---- patterns of custom kinds ----------------------------------------------------------------------------------

const patterns = {
  'counted repeats': '^(a{1,100}){1,100}$',
  'counted repeats of repeats': '^((a{1,30}b?){1,30}c?){1,30}$',
  alternation: '^(a|aa|aaa|aaaa)*b$',
  'nested stars': '^((a*)*)*b$',
  'many words': `^(${Array.from({ length: 3000 }, (_, i) => `a{1,9}${i}`).join('|')})$`,
  'one long count': '^a{1000}a{1000}a{1000}b$',
};
for (const [name, pattern] of Object.entries(patterns)) {
  const group = `p${Object.keys(patterns).indexOf(name)}.example.com`;
  const made = definition('prints', { type: 'string', pattern }, group);
  add(`pattern ${name}, definition`, () => ({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: asJson,
    body: bytes(made),
  }));
  add(
    `pattern ${name}, 1 MB text`,
    async (server) => {
      const defined = await send(server, { path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${made.metadata.name}` });
      const path = `/apis/${group}/v1/namespaces/${NS}/prints`;
      if (defined.status === 200) await ready(server, path);
      const object = { apiVersion: `${group}/v1`, kind: 'Print', metadata: { name: fresh() }, spec: { special: text(2 ** 20) } };
      return { method: 'POST', path, headers: asJson, body: bytes(object) };
    },
    { statuses: [201, 422, 404, 413] },
  );
}

// ---- formats and schemas of custom kinds -------------------------------------------------------------------------

/** Nested choices of two: 2^depth leaves, each of which may be looked at for one value. */
const choices = (word, depth) => (depth === 0 ? { maxLength: 5 } : { [word]: [choices(word, depth - 1), choices(word, depth - 1)] });
const manyFields = (size) => ({
  type: 'object',
  properties: repeat(size, (i) => [`p${i}`, { type: 'string' }], Object.fromEntries),
});
const formats = [
  ...['creditcard', 'email', 'uri', 'hostname', 'ipv6', 'cidr', 'isbn', 'ssn', 'hexcolor', 'byte', 'date-time', 'duration', 'uuid', 'mac'],
];
const specials = {
  ...Object.fromEntries(formats.map((format) => [`format ${format}`, [{ type: 'string', format }, () => text(READ - 1000, '41')]])),
  'oneOf 2^8': [{ type: 'string', ...choices('oneOf', 8) }, () => text(READ - 1000)],
  'anyOf 2^12': [{ type: 'string', ...choices('anyOf', 12) }, () => text(READ - 1000)],
  'anyOf 2^14': [{ type: 'string', ...choices('anyOf', 14) }, () => text(1000)],
  'oneOf 2^8, list': [{ type: 'array', items: { type: 'string', ...choices('oneOf', 8) } }, () => repeat(STORED, (i) => `long text ${i}`)],
  'thousands of properties': [
    manyFields(STORED * 0.4),
    () =>
      repeat(
        STORED * 0.4,
        (i) => [`p${i}`, 'v'],
        (list) => Object.fromEntries(list.slice(0, 10_000)),
      ),
  ],
  'list of sets': [
    {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'integer' } },
    },
    () => repeat(STORED * 0.5, (i) => [i, 1, 2]),
  ],
  'equal enum': [
    { type: 'array', items: { type: 'string', enum: repeat(STORED * 0.3, (i) => `e${i}`) } },
    () => repeat(STORED, () => 'e9'),
  ],
};
for (const [name, [schema, value]] of Object.entries(specials)) {
  const group = `s${Object.keys(specials).indexOf(name)}.example.com`;
  const made = definition('specials', schema, group);
  const path = `/apis/${group}/v1/namespaces/${NS}/specials`;
  add(`schema ${name}, definition`, () => ({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: asJson,
    body: bytes(made),
  }));
  const object = () => ({ apiVersion: `${group}/v1`, kind: 'Special', metadata: { name: fresh() }, spec: { special: value() } });
  const defined = async (server) => {
    const found = await send(server, { path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${made.metadata.name}` });
    if (found.status === 200) await ready(server, path);
  };
  add(
    `schema ${name}, create`,
    async (server) => {
      await defined(server);
      return { method: 'POST', path, headers: asJson, body: bytes(object()) };
    },
    { statuses: [201, 404, 413, 422] },
  );
  add(
    `schema ${name}, apply`,
    async (server) => {
      await defined(server);
      const one = object();
      return applied(path, one.metadata.name, one);
    },
    {
      statuses: [201, 400, 404, 413, 422],
      after: (server) =>
        send(server, { method: 'DELETE', path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${made.metadata.name}` }),
    },
  );
}

// ---- definitions -------------------------------------------------------------------------------------------------

const deepSchema = (depth) => {
  let schema = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema } };
  return schema;
};
const wideSchema = (size) => ({
  type: 'object',
  properties: repeat(size, (i) => [`p${i}`, { type: 'string', maxLength: 9, description: 'some words' }], Object.fromEntries),
});
const schemas = {
  deep: () => deepSchema(500),
  'very deep': () => deepSchema(1200),
  wide: () => wideSchema(STORED * 0.7),
  'wide, largest body': () => wideSchema(READ * 0.9),
  enum: () => ({ type: 'string', enum: repeat(STORED * 0.7, (i) => `e${i}`) }),
  required: () => ({ type: 'object', properties: { a: { type: 'string' } }, required: repeat(STORED * 0.7, (i) => `r${i}`) }),
  anyOf: () => ({ type: 'string', anyOf: repeat(STORED * 0.7, (i) => ({ maxLength: i })) }),
  'anyOf, most parts': () => ({ type: 'string', anyOf: repeat(STORED, (i) => ({ maxLength: i })).slice(0, 9_990) }),
  'default value': () => ({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    default: repeat(STORED * 0.7, (i) => [`d${i}`, 'v'], Object.fromEntries),
  }),
};
let definitions = 0;
for (const [name, make] of Object.entries(schemas)) {
  const group = `d${definitions++}.example.com`;
  add(
    `definition ${name}`,
    () => ({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      headers: asJson,
      body: bytes(definition('bigs', make(), group)),
    }),
    {
      statuses: [201, 400, 413, 422],
    },
  );
  add(`definition ${name}, OpenAPI v2`, () => ({ path: '/openapi/v2' }));
  add(
    `definition ${name}, OpenAPI v2 binary`,
    () => ({ path: '/openapi/v2', headers: { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' } }),
    { statuses: [200, 406] },
  );
  add(`definition ${name}, OpenAPI v3`, () => ({ path: `/openapi/v3/apis/${group}/v1` }), {
    statuses: [200, 404],
    after: (server) => send(server, { method: 'DELETE', path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bigs.${group}` }),
  });
}
{
  const versions = (size) => {
    const [one] = definition('many').spec.versions;
    return repeat(size, (i) => ({ ...one, name: `v${i + 1}`, storage: i === 0 }));
  };
  add('definition many versions', () => {
    const value = definition('manies', undefined, 'dv.example.com');
    value.spec.versions = versions(STORED * 0.7);
    return { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', headers: asJson, body: bytes(value) };
  });
  add('definition many columns', () => {
    const value = definition('columns', undefined, 'dc.example.com');
    value.spec.versions[0].additionalPrinterColumns = repeat(STORED * 0.7, (i) => ({
      name: `c${i}`,
      type: 'string',
      jsonPath: `.spec.c${i}`,
    }));
    return { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', headers: asJson, body: bytes(value) };
  });
  add('definition many short names', () => {
    const value = definition('names', undefined, 'dn.example.com');
    value.spec.names.shortNames = repeat(STORED * 0.7, (i) => `s${i}`);
    return { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', headers: asJson, body: bytes(value) };
  });
}

// ---- patches ----------------------------------------------------------------------------------------------------

function patch(name, type, start, makePatch, { path = `${inNamespace}/configmaps`, size = READ } = {}) {
  add(
    `patch ${name}`,
    async (server) => {
      const object = start(fresh());
      await must(server, 'POST', path, object);
      const body = makePatch(size, object);
      return { method: 'PATCH', path: `${path}/${object.metadata.name}`, headers: { 'content-type': type }, body: bytes(body) };
    },
    { statuses: [200, 400, 413, 422] },
  );
}
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
const plainMap = (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: 'b' } });
const longMap = (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  data: map(
    STORED * 0.8,
    (i) => `k${i}`,
    () => 'v',
  ),
});
const finalized = (name) => ({
  ...metadata('v1', 'ConfigMap', name),
  metadata: { name, finalizers: repeat(STORED * 0.2, (i) => `x.example/f${i}`) },
});
const listThing = (name) => thing(name, { list: repeat(STORED * 0.8, (i) => i) });
patch('JSON, 10,000 tests', jsonPatch, longMap, () => Array.from({ length: 10_000 }, () => ({ op: 'test', path: '/data/k1', value: 'v' })));
patch(
  'JSON, 10,000 adds at the start of a list',
  jsonPatch,
  listThing,
  () => Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/spec/list/0', value: 1 })),
  { path: custom },
);
patch(
  'JSON, 10,000 moves in a list',
  jsonPatch,
  listThing,
  () => Array.from({ length: 10_000 }, () => ({ op: 'move', from: '/spec/list/0', path: '/spec/list/1' })),
  { path: custom },
);
patch(
  'JSON, 10,000 removes at the start of a list',
  jsonPatch,
  listThing,
  () => Array.from({ length: 10_000 }, () => ({ op: 'remove', path: '/spec/list/0' })),
  { path: custom },
);
patch(
  'JSON, copies that double',
  jsonPatch,
  (name) => thing(name, { list: [text(1000)] }),
  () => Array.from({ length: 40 }, () => ({ op: 'copy', from: '/spec/list', path: '/spec/list/0' })),
  { path: custom },
);
patch('JSON, 10,000 copies of a large value', jsonPatch, longMap, () =>
  Array.from({ length: 10_000 }, (_, i) => ({ op: 'copy', from: '/data', path: `/metadata/annotations${i}` })),
);
patch('JSON, long pointers', jsonPatch, plainMap, () =>
  Array.from({ length: 40 }, () => ({ op: 'add', path: text(70_000, '/a'), value: 1 })),
);
patch('JSON, one large value', jsonPatch, plainMap, (size) => [
  {
    op: 'add',
    path: '/data',
    value: map(
      size,
      (i) => `k${i}`,
      () => 'v',
    ),
  },
]);
patch('merge, wide, stored size', mergePatch, plainMap, () => ({
  data: map(
    STORED,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
patch('merge, wide, largest body', mergePatch, plainMap, (size) => ({
  data: map(
    size,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
patch('merge, wide over wide', mergePatch, longMap, () => ({
  data: map(
    STORED * 0.8,
    (i) => `k${i}`,
    () => 'w',
  ),
}));
patch('merge, nulls over wide', mergePatch, longMap, () => ({
  data: map(
    STORED * 0.8,
    (i) => `k${i}`,
    () => null,
  ),
}));
patch(
  'merge, deep',
  mergePatch,
  (name) => thing(name),
  () => `{"spec":{"free":${text(5 * 200_000, '{"a":')}1${text(200_000, '}')}}}`,
  { path: custom },
);
patch('strategic, wide', strategicPatch, plainMap, () => ({
  data: map(
    STORED,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
patch('strategic, finalizers', strategicPatch, finalized, () => ({
  metadata: { finalizers: repeat(STORED * 0.6, (i) => `y.example/f${i}`) },
}));
patch('strategic, deletes from finalizers', strategicPatch, finalized, () => ({
  metadata: { '$deleteFromPrimitiveList/finalizers': repeat(STORED, (i) => `x.example/f${i}`) },
}));
patch('strategic, order of finalizers', strategicPatch, finalized, () => ({
  metadata: { '$setElementOrder/finalizers': repeat(STORED, (i) => `x.example/f${i}`) },
}));
const podStart = (name) => bodies.find((b) => b.name === 'pod tolerations').make(name, 1000);
const deploymentPath = `/apis/apps/v1/namespaces/${NS}/deployments`;
const deploymentStart = (name) => bodies.find((b) => b.name === 'deployment containers').make(name, STORED * 0.1);
patch(
  'strategic, containers by name',
  strategicPatch,
  deploymentStart,
  () => ({ spec: { template: { spec: { containers: repeat(STORED, (i) => ({ name: `c${i}`, image: 'x' })) } } } }),
  { path: deploymentPath },
);
patch(
  'strategic, deletes of containers',
  strategicPatch,
  deploymentStart,
  () => ({ spec: { template: { spec: { containers: repeat(STORED, (i) => ({ name: `c${i}`, $patch: 'delete' })) } } } }),
  { path: deploymentPath },
);
patch(
  'strategic, order of containers',
  strategicPatch,
  deploymentStart,
  () => ({ spec: { template: { spec: { '$setElementOrder/containers': repeat(STORED, (i) => ({ name: `c${i}` })) } } } }),
  { path: deploymentPath },
);
patch(
  'merge, pod annotations',
  mergePatch,
  podStart,
  () => ({
    metadata: {
      annotations: map(
        240_000,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  }),
  { path: `${inNamespace}/pods` },
);

// ---- apply --------------------------------------------------------------------------------------------------------

const applyType = { 'content-type': 'application/apply-patch+yaml' };
const applied = (path, name, object, manager = 'one') => ({
  method: 'PATCH',
  path: `${path}/${name}?fieldManager=${manager}&force=true`,
  headers: applyType,
  body: bytes(object),
});
for (const [name, size] of [
  ['stored size', STORED * 0.4],
  ['largest body', READ],
])
  for (const which of ['config map data', 'thing rows', 'thing deep', 'deployment containers', 'pod env']) {
    const body = bodies.find((one) => one.name === which);
    add(
      `apply ${which}, ${name}`,
      () => {
        const object = body.make(fresh(), size);
        return applied(body.path, object.metadata.name, object);
      },
      { statuses: [200, 201, 400, 413, 422] },
    );
  }
add(
  'apply again, wide and changed',
  async (server) => {
    const name = fresh();
    const make = (value) => ({
      ...metadata('v1', 'ConfigMap', name),
      data: map(
        STORED * 0.4,
        (i) => `k${i}`,
        () => value,
      ),
    });
    await send(server, applied(`${inNamespace}/configmaps`, name, make('a')));
    return applied(`${inNamespace}/configmaps`, name, make('b'));
  },
  { statuses: [200, 413, 422] },
);
add(
  'apply by another, wide conflict',
  async (server) => {
    const name = fresh();
    const make = (value) => ({
      ...metadata('v1', 'ConfigMap', name),
      data: map(
        STORED * 0.3,
        (i) => `k${i}`,
        () => value,
      ),
    });
    await send(server, applied(`${inNamespace}/configmaps`, name, make('a')));
    const request = applied(`${inNamespace}/configmaps`, name, make('b'), 'two');
    return { ...request, path: request.path.replace('&force=true', '') };
  },
  { statuses: [409, 413, 422] },
);
add('apply by the last of 100 managers', async (server) => {
  const name = fresh();
  const make = (m) => ({
    ...metadata('v1', 'ConfigMap', name),
    data: map(
      4000,
      (i) => `k${m}-${i}`,
      () => 'v',
    ),
  });
  for (let m = 0; m < 100; m++) await send(server, applied(`${inNamespace}/configmaps`, name, make(m), `m${m}`));
  return applied(`${inNamespace}/configmaps`, name, make(100), 'last');
});
add('apply the same by the last of 100 managers', async (server) => {
  const name = fresh();
  const object = {
    ...metadata('v1', 'ConfigMap', name),
    data: map(
      6000,
      (i) => `k${i}`,
      () => 'v',
    ),
  };
  for (let m = 0; m < 100; m++) await send(server, applied(`${inNamespace}/configmaps`, name, object, `m${m}`));
  return applied(`${inNamespace}/configmaps`, name, object, 'last');
});
add('apply YAML, wide', () => {
  const name = fresh();
  const lines = repeat(
    STORED * 0.4,
    (i) => `  k${i}: v`,
    (list) => list.join('\n'),
  );
  return applied(`${inNamespace}/configmaps`, name, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${lines}\n`);
});

// ---- updates, status and deletes ----------------------------------------------------------------------------------

function update(name, path, make, change, suffix = '') {
  add(
    `update ${name}`,
    async (server) => {
      const object = make(fresh());
      const answer = await must(server, 'POST', path, object);
      const stored = JSON.parse(answer.body.toString());
      return { method: 'PUT', path: `${path}/${stored.metadata.name}${suffix}`, headers: asJson, body: bytes(change(stored)) };
    },
    { statuses: [200, 400, 413, 422] },
  );
}
update('config map data', `${inNamespace}/configmaps`, longMap, (stored) => ({
  ...stored,
  data: map(
    STORED,
    (i) => `l${i}`,
    () => 'v',
  ),
}));
update('pod labels', `${inNamespace}/pods`, podStart, (stored) => ({
  ...stored,
  metadata: {
    ...stored.metadata,
    labels: map(
      STORED,
      (i) => `l${i}`,
      () => 'v',
    ),
  },
}));
update('pod tolerations', `${inNamespace}/pods`, podStart, (stored) => ({
  ...stored,
  spec: { ...stored.spec, tolerations: repeat(STORED, (i) => ({ key: `k${i}`, operator: 'Exists' })) },
}));
update(
  'pod status conditions',
  `${inNamespace}/pods`,
  podStart,
  (stored) => ({ ...stored, status: { ...stored.status, conditions: repeat(STORED, (i) => ({ type: `C${i}`, status: 'True' })) } }),
  '/status',
);
update(
  'pod status addresses',
  `${inNamespace}/pods`,
  podStart,
  (stored) => ({ ...stored, status: { podIPs: repeat(STORED, (i) => ({ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` })) } }),
  '/status',
);
update(
  'pod status containers',
  `${inNamespace}/pods`,
  podStart,
  (stored) => ({
    ...stored,
    status: { containerStatuses: repeat(STORED, (i) => ({ name: `c${i}`, image: 'a', imageID: 'b', ready: true, restartCount: 0 })) },
  }),
  '/status',
);
update(
  'pod ephemeral containers',
  `${inNamespace}/pods`,
  podStart,
  (stored) => ({ ...stored, spec: { ...stored.spec, ephemeralContainers: repeat(STORED, (i) => ({ name: `e${i}`, image: 'a' })) } }),
  '/ephemeralcontainers',
);
const nodeStart = (name) => metadata('v1', 'Node', name);
update('node taints', '/api/v1/nodes', nodeStart, (stored) => ({
  ...stored,
  spec: { taints: repeat(STORED, (i) => ({ key: `k${i}`, effect: 'NoSchedule' })) },
}));
update(
  'node addresses',
  '/api/v1/nodes',
  nodeStart,
  (stored) => ({ ...stored, status: { addresses: repeat(STORED, (i) => ({ type: 'InternalIP', address: `10.0.${i >> 8}.${i & 255}` })) } }),
  '/status',
);
update(
  'node images',
  '/api/v1/nodes',
  nodeStart,
  (stored) => ({ ...stored, status: { images: repeat(STORED, (i) => ({ names: [`a/b:${i}`], sizeBytes: i })) } }),
  '/status',
);
update(
  'node capacity',
  '/api/v1/nodes',
  nodeStart,
  (stored) => ({
    ...stored,
    status: {
      capacity: map(
        STORED,
        (i) => `example.com/r${i}`,
        () => '1',
      ),
    },
  }),
  '/status',
);
const claim = (name) => ({
  ...metadata('v1', 'PersistentVolumeClaim', name),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
update(
  'claim conditions',
  `${inNamespace}/persistentvolumeclaims`,
  claim,
  (stored) => ({ ...stored, status: { conditions: repeat(STORED, (i) => ({ type: `C${i}`, status: 'True' })) } }),
  '/status',
);
for (const name of ['config map data', 'pod containers', 'pod owners', 'thing rows']) {
  const body = bodies.find((one) => one.name === name);
  add(
    `delete ${name}`,
    async (server) => {
      const object = body.make(fresh(), STORED);
      await send(server, { method: 'POST', path: body.path, headers: asJson, body: bytes(object) });
      return { method: 'DELETE', path: `${body.path}/${object.metadata.name}?gracePeriodSeconds=0` };
    },
    { statuses: [200, 404] },
  );
}

// ---- reviews, headers and queries -----------------------------------------------------------------------------------

const access = (kind, spec) => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec });
const attributes = { resourceAttributes: { verb: 'get', resource: 'pods' } };
const review = (name, path, object) =>
  add(`review ${name}`, () => ({ method: 'POST', path, headers: asJson, body: bytes(object()) }), { statuses: [200, 201, 400, 413, 422] });
const reviews = '/apis/authorization.k8s.io/v1';
review('groups', `${reviews}/subjectaccessreviews`, () =>
  access('SubjectAccessReview', { ...attributes, user: 'a', groups: repeat(READ, (i) => `g${i}`) }),
);
review('extra', `${reviews}/subjectaccessreviews`, () =>
  access('SubjectAccessReview', {
    ...attributes,
    user: 'a',
    extra: map(
      READ,
      (i) => `x${i}`,
      () => ['v'],
    ),
  }),
);
review('long path', `${reviews}/selfsubjectaccessreviews`, () =>
  access('SelfSubjectAccessReview', { nonResourceAttributes: { verb: 'get', path: text(READ, '/a') } }),
);
review('wrong type', `${reviews}/selfsubjectaccessreviews`, () =>
  access(
    'SelfSubjectAccessReview',
    repeat(READ, (i) => `g${i}`),
  ),
);
review('rules', `${reviews}/selfsubjectrulesreviews`, () => access('SelfSubjectRulesReview', { namespace: NS }));
review('token', '/apis/authentication.k8s.io/v1/tokenreviews', () => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec: { token: text(READ, 'a.b.c'), audiences: ['a'] },
}));
review('token audiences', '/apis/authentication.k8s.io/v1/tokenreviews', () => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec: { token: 'a', audiences: repeat(READ, (i) => `a${i}`) },
}));

const HEADER = 12_000;
const header = (name, headers, more = {}) =>
  add(
    `header ${name}`,
    () => ({ method: 'POST', path: `${inNamespace}/configmaps`, headers: { ...asJson, ...headers }, body: bytes(plainMap(fresh())) }),
    { statuses: [201, 400, 401, 403, 406, 415, 431], ...more },
  );
for (const length of [HEADER, 60_000]) {
  header(`content type, spaces, ${length}`, { 'content-type': `application/json;${text(length, ' ')}x` });
  header(`content type, parameters, ${length}`, { 'content-type': `application/json${text(length, '; a=b ')}!` });
  header(`accept, clauses, ${length}`, { accept: text(length, 'a/b;q=0.1,') });
  header(`accept, parameters, ${length}`, { accept: `application/json${text(length, ';a=b')}` });
  header(`groups, ${length}`, { 'impersonate-user': 'a', 'impersonate-group': Array.from({ length: length / 30 }, (_, i) => `g${i}`) });
  header(`user agent, ${length}`, { 'user-agent': text(length, 'a/ ') });
  header(`token, ${length}`, { authorization: `Bearer ${text(length, 'a.')}` });
  header(`accept encoding, ${length}`, { 'accept-encoding': `${text(length, 'gzip;q=0 ')}` });
}
add('query many parameters', () => ({ path: `${inNamespace}/configmaps?${text(12_000, 'a=b&')}` }), { statuses: [200, 400] });
add('path of many parts', () => ({ path: `/api/v1${text(12_000, '/a')}` }), { statuses: [404] });

// ---- many objects ---------------------------------------------------------------------------------------------------

const listCase = (name, path, headers = {}, more = {}) =>
  add(`list ${name}`, () => ({ path, headers }), { needs: 'pods', statuses: [200, 400, 414, 431], ...more });
const pods = '/api/v1/pods';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partialList = 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
listCase('10,000 pods', pods);
listCase('10,000 pods, gzip', pods, { 'accept-encoding': 'gzip' });
listCase('10,000 pods as Table', pods, { accept: table });
listCase('10,000 pods as Table with objects', `${pods}?includeObject=Object`, { accept: table });
listCase('10,000 pods as YAML', pods, { accept: 'application/yaml' });
listCase('10,000 pods as YAML Table', pods, { accept: table.replace('json', 'yaml') });
listCase('10,000 pods, pretty', `${pods}?pretty=true`);
listCase('10,000 pods, binary', pods, { accept: protobuf });
listCase('10,000 pods, metadata', pods, { accept: `application/json;${partialList}` });
listCase('10,000 pods, metadata as YAML', pods, { accept: `application/yaml;${partialList}` });
listCase('10,000 pods, metadata, binary', pods, { accept: `${protobuf};${partialList}` });
listCase('10,000 pods, pages of 5,000', `${pods}?limit=5000`);
listCase('10,000 pods, pages of 5,000 as YAML', `${pods}?limit=5000`, { accept: 'application/yaml' });
const long = (length, part) =>
  encodeURIComponent(Array.from({ length: Math.floor(length / (part(0).length + 4)) }, (_, i) => part(i)).join(','));
for (const length of [10_000, 60_000]) {
  listCase(`by label, ${length} of absent keys`, `${pods}?labelSelector=${long(length, (i) => `!k${i}`)}`);
  listCase(`by label, ${length} of other values`, `${pods}?labelSelector=${long(length, (i) => `app!=v${i}`)}`);
  listCase(`by label, ${length} of values in`, `${pods}?labelSelector=${encodeURIComponent('index in (')}${long(length, (i) => `p${i}`)})`);
  listCase(
    `by label, ${length} of values not in`,
    `${pods}?labelSelector=${encodeURIComponent('index notin (')}${long(length, (i) => `q${i}`)})`,
  );
  listCase(`by label, ${length} of numbers`, `${pods}?labelSelector=${long(length, (i) => `a<${i + 9}`)}`);
  listCase(`by field, ${length}`, `${pods}?fieldSelector=${long(length, (i) => `spec.nodeName!=n${i}`)}`);
  listCase(`by field, ${length} names`, `${pods}?fieldSelector=${long(length, (i) => `metadata.name!=n${i}`)}`);
}
const watchCase = (name, query, headers, until) =>
  add(`watch ${name}`, () => ({ path: `${pods}?watch=1${query}`, headers, until }), { needs: 'pods', statuses: [200, 400, 414, 431] });
watchCase('10,000 pods', '', {}, 10_000_000);
watchCase('10,000 pods, binary', '', { accept: protobuf }, 4_000_000);
watchCase('10,000 pods as Table', '', { accept: table }, 8_000_000);
watchCase('10,000 pods, metadata', '', { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }, 5_000_000);
watchCase(
  'by label not in',
  `&timeoutSeconds=1&labelSelector=${encodeURIComponent('index notin (')}${long(10_000, (i) => `q${i}`)})`,
  {},
  10_000_000,
);
watchCase('by label, other values', `&timeoutSeconds=1&labelSelector=${long(10_000, (i) => `app!=v${i}`)}`, {}, 10_000_000);
watchCase('by label, none', `&timeoutSeconds=1&labelSelector=${long(10_000, (i) => `app!=v${i}`)}%2Capp%3Dnone`, {}, 10_000_000);
watchCase(
  'by field, none',
  `&timeoutSeconds=1&fieldSelector=${long(10_000, (i) => `spec.nodeName!=n${i}`)}%2Cspec.nodeName!%3D`,
  {},
  10_000_000,
);

const crowd = (name, count, path, headers, others = []) => {
  const all = [headers, ...others];
  const request = () => Array.from({ length: count }, (_, i) => ({ path, headers: all[i % all.length] }));
  add(`crowd of ${count}: ${name}`, request, { needs: 'pods' });
};
crowd('Tables', 20, pods, { accept: table });
crowd('YAML', 20, pods, { accept: 'application/yaml' });
crowd('pretty', 20, `${pods}?pretty=true`, {});
crowd('binary', 20, pods, { accept: protobuf });

crowd('YAML Tables', 20, pods, { accept: table.replace('json', 'yaml') });
crowd('every form', 20, pods, { accept: 'application/yaml' }, [
  { accept: protobuf },
  { accept: table },
  { accept: `application/json;${partialList}` },
]);
crowd('by label', 100, `${pods}?labelSelector=${long(10_000, (i) => `app!=v${i}`)}`, {});

// One large object in every form.
const forms = {
  YAML: { accept: 'application/yaml' },
  pretty: {},
  binary: { accept: protobuf },
  Table: { accept: table },
  'YAML Table with the object': { accept: table.replace('json', 'yaml') },
  metadata: { accept: 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
};
const quoted = (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: text(STORED / 4, '"\t') } });
const lines = (name) => ({ ...metadata('v1', 'ConfigMap', name), data: { a: text(STORED / 2, 'a\n') } });
/** What defaults and managed fields add leaves so much of the size. */
const storable = (name) => (name === 'pod containers' ? 0.06 : 1);
const larges = [
  ...['config map data', 'pod containers', 'pod env', 'thing deep', 'thing rows'].flatMap((name) =>
    bodies.filter((body) => body.name === name).map((body) => ({ ...body, make: (made) => body.make(made, STORED * storable(name)) })),
  ),
  { name: 'one quoted text', path: `${inNamespace}/configmaps`, make: quoted },
  { name: 'one text of lines', path: `${inNamespace}/configmaps`, make: lines },
];
for (const { name, path, make } of larges)
  for (const [form, headers] of Object.entries(forms)) {
    let made;
    add(
      `read ${name} as ${form}`,
      async (server) => {
        const object = make(fresh());
        made = `${path}/${object.metadata.name}`;
        await must(server, 'POST', path, object);
        const query = form === 'pretty' ? '?pretty=true' : form.includes('object') ? '?includeObject=Object' : '';
        return { path: made + query, headers };
      },
      { statuses: [200, 406], after: (server) => send(server, { method: 'DELETE', path: `${made}?gracePeriodSeconds=0` }) },
    );
  }
add('read discovery', () => ['/api', '/apis', '/api/v1', '/apis/apps/v1'].map((path) => ({ path })));
add('read a backup', () => ({ path: '/store/backup' }), { needs: 'pods' });

const things = custom.replace(`/${NS}/`, '/many/');
listCase('10,000 custom objects', things, {}, { needs: 'things' });
listCase('10,000 custom objects, other version', things.replace('/v1/', '/v2/'), {}, { needs: 'things' });
listCase('10,000 custom objects as Table', things, { accept: table }, { needs: 'things' });
listCase('10,000 custom objects as YAML', things, { accept: 'application/yaml' }, { needs: 'things' });

const configMaps = '/api/v1/namespaces/many/configmaps';
add(
  'delete collection, none of 10,000',
  () => ({ method: 'DELETE', path: `${configMaps}?labelSelector=${long(10_000, (i) => `app!=v${i}`)}%2Capp%3Dnone` }),
  { needs: 'configMaps' },
);
add('delete collection of 10,000', () => ({ method: 'DELETE', path: configMaps }), { needs: 'configMaps' });
add('delete a namespace with 20,000 objects', () => ({ method: 'DELETE', path: '/api/v1/namespaces/many' }), { needs: 'pods' });
