// Changes a valid request at random. Everything comes from one seeded source, so that a seed gives the same requests again.
export function randomSource(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit) => next() % limit;
  const pick = (list) => list[below(list.length)];
  const chance = (percent) => below(100) < percent;
  return { below, pick, chance };
}

// biome-ignore format: a table
const words = ['', 'a', 'one', 'A_B', '..', '.', '%', '%2f', '%00', '%c3%28', 'é', '日本', '__proto__', 'constructor', 'toString', 'x'.repeat(300), '*', '-', '{}', 'null', '0', '-1', '1e9', '9'.repeat(25), 'true', 'false', 'status', 'scale', 'proxy', 'log', 'watch', 'namespaces', 'pods', 'fuzz-a', 'fuzz-b', 'kube-system', 'default', '\u0000', '\n', '<script>'];
// biome-ignore format: a table
const values = [null, true, false, 0, -1, 1, 1.5, 1e308, 2 ** 53, -(2 ** 63), '', 'x', '1', '1Gi', '-5m', 'NaN', '2024-13-01T00:00:00Z', '2024-05-01T08:00:00Z', 'a'.repeat(5000), 'é\u0000', '__proto__', '../x', '10.0.0.1', '::1', '256.1.1.1', [], [null], [[]], ['x', 'x'], {}, { a: null }, { $patch: 'delete' }, { name: 'x' }, [{ name: 'x' }, { name: 'x' }]];
// biome-ignore format: a table
const keys = ['name', 'namespace', 'kind', 'apiVersion', 'metadata', 'spec', 'status', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'resourceVersion', 'uid', 'generation', 'deletionTimestamp', 'managedFields', 'generateName', 'selfLink', 'creationTimestamp', 'containers', 'type', 'selector', 'template', '__proto__', 'constructor', 'unknownField', '', 'a/b', '$patch', '$setElementOrder/containers'];
const parameters = {
  limit: ['1', '0', '-1', '500', 'x', '99999999999999999999'],
  continue: ['', 'x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0', '%00'],
  resourceVersion: ['', '0', '1', '5', '999999999', '-1', 'abc', '18446744073709551616'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'exact', ''],
  labelSelector: ['app=x', 'app in (x,y)', '!app', 'a>1', '((', ',', 'app=x,app=y', 'é=ü', `${'a,'.repeat(300)}b`],
  fieldSelector: ['metadata.name=one', 'status.phase=Running', 'x=y', '=', 'metadata.name!=,', 'spec.nodeName='],
  watch: ['1', 'true', 'false', 'False', 'maybe'],
  timeoutSeconds: ['1', '0', '-5', 'x'],
  allowWatchBookmarks: ['true', 'no'],
  dryRun: ['All', 'None', '', 'all', 'All,All'],
  fieldManager: ['fuzz', '', 'x'.repeat(200), 'é'],
  force: ['true', 'false', 'x'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  pretty: ['true', 'false', '1'],
  gracePeriodSeconds: ['0', '-1', '5', 'x', '99999999999'],
  propagationPolicy: ['Foreground', 'Background', 'Orphan', 'x'],
  orphanDependents: ['true', 'x'],
  command: ['sh', ''],
  path: ['/x'],
  timeout: ['1s', '0', '-1s', 'x', '9999h'],
};
// biome-ignore format: a table
const headerChoices = {
  accept: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', '*/*', 'application/json;as=Table;g=meta.k8s.io;v=v1', 'application/json;as=Table;g=meta.k8s.io;v=v2', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'application/vnd.kubernetes.protobuf;stream=watch', 'text/html', 'x', ';', 'application/*', ','.repeat(500)],
  'content-type': ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'application/merge-patch+json', 'application/json-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml', 'text/plain', '', 'application/json; charset="', '/'],
  'impersonate-user': ['alice', '', 'system:admin'],
  'impersonate-group': ['system:masters', 'dev'],
  'x-remote-user': ['admin'],
  'user-agent': ['kubectl/v1.24', 'Mozilla/5.0', ''],
  'accept-encoding': ['gzip', 'br', 'identity;q=0'],
  'content-encoding': ['gzip', 'deflate'],
  'if-none-match': ['"x"'],
  range: ['bytes=0-5'],
  cookie: ['a=b'],
  'audit-id': ['x'.repeat(100)],
  traceparent: ['00-x'],
};
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

export function mutate(source, base) {
  const { below, pick, chance } = source;
  const [plain, query = ''] = base.path.split('?');
  const path = chance(25) ? mutatePath(source, plain) : plain;
  let search = query;
  const add = (text) => {
    search += `${search === '' ? '' : '&'}${text}`;
  };
  while (chance(30)) {
    const name = pick(Object.keys(parameters));
    add(`${name}=${encodeURIComponent(chance(85) ? pick(parameters[name]) : pick(words))}`);
  }
  const headers = {};
  if (base.type !== undefined) headers['content-type'] = base.type;
  while (chance(20)) {
    const name = pick(Object.keys(headerChoices));
    headers[name] = pick(headerChoices[name]);
  }
  let { body } = base;
  if (body !== undefined && !Buffer.isBuffer(body) && chance(70)) body = mutateJson(source, body);
  if (body !== undefined && chance(15)) body = mutateBytes(source, Buffer.from(body));
  const method = chance(6) ? pick(methods) : base.method;
  // Watches end by themselves: a request must not last.
  if (/(^|&)(watch|follow)=/.test(search) || path.includes('watch')) add('timeoutSeconds=1');
  const user = below(20) === 0 ? 'alice' : below(30) === 0 ? 'nobody' : 'admin';
  return { method, path: search === '' ? path : `${path}?${search}`, headers, body, user };
}

function mutatePath({ below, pick, chance }, path) {
  const parts = path.split('/');
  const at = 1 + below(parts.length);
  const word = () => {
    const chosen = pick(words);
    // Not encoded, only what can stand in a request line.
    return chance(50) ? encodeURIComponent(chosen) : chosen.replace(/[^\x21-\x7e]|[?#]/g, '');
  };
  switch (below(6)) {
    case 0:
      parts[at] = word();
      break;
    case 1:
      parts.splice(at, 0, word());
      break;
    case 2:
      parts.splice(at, 1);
      break;
    case 3:
      parts.push(word());
      break;
    case 4:
      parts.splice(at, 0, '');
      break;
    default: {
      const other = 1 + below(parts.length);
      [parts[at], parts[other]] = [parts[other] ?? '', parts[at] ?? ''];
    }
  }
  const made = parts.join('/');
  return made.startsWith('/') ? made : `/${made}`;
}

function mutateJson(source, text) {
  const { below, pick, chance } = source;
  let root;
  try {
    root = JSON.parse(text);
  } catch {
    return text;
  }
  for (let i = 1 + below(3); i > 0; i--) {
    const place = placeIn(source, root);
    if (place === undefined) return chance(50) ? JSON.stringify(pick(values)) : text;
    const { parent, key } = place;
    const inner = parent[key];
    switch (below(5)) {
      case 0:
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else delete parent[key];
        break;
      case 1:
        if (Array.isArray(parent)) parent.push(inner);
        else parent[pick(keys)] = inner;
        break;
      case 2:
        if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) inner[pick(keys)] = structuredClone(pick(values));
        else parent[key] = structuredClone(pick(values));
        break;
      default:
        parent[key] = structuredClone(pick(values));
    }
    // A part that was put into itself cannot be written.
    root = JSON.parse(safeText(root) ?? text);
  }
  const made = JSON.stringify(root);
  // A repeated key, which no object of the language can hold.
  return chance(3) ? made.replace('{', '{"metadata":{"name":"twice"},') : made;
}
function safeText(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
function placeIn({ below, pick }, root) {
  let found;
  let at = root;
  for (let depth = below(8); depth >= 0; depth--) {
    if (typeof at !== 'object' || at === null) break;
    const names = Object.keys(at);
    if (names.length === 0) break;
    found = { parent: at, key: pick(names) };
    at = at[found.key];
  }
  return found;
}

function mutateBytes({ below }, bytes) {
  if (bytes.length === 0) return bytes;
  switch (below(4)) {
    case 0:
      bytes[below(bytes.length)] = below(256);
      return bytes;
    case 1:
      return bytes.subarray(0, below(bytes.length));
    case 2:
      return Buffer.concat([bytes.subarray(0, below(bytes.length)), bytes.subarray(below(bytes.length))]);
    default:
      return Buffer.concat([bytes, bytes.subarray(0, below(bytes.length))]).subarray(0, 100_000);
  }
}
