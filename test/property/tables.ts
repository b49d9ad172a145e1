/** What requests are changed with. */
import type { JsonValue } from '../../packages/schema/src/types.ts';

/** Parameters of queries, with values that are valid and values that are not. */
// biome-ignore format: a table
export const parameters: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '0', '-1', '500', 'x', '99999999999999999999', '1.5'],
  continue: ['', 'x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0', '%00', '{}', 'bnVsbA', 'e30'],
  resourceVersion: ['', '0', '1', '5', '-1', 'abc', '18446744073709551616', '1e3', ' 1'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'exact', ''],
  labelSelector: ['app=x', 'app in (x,y)', '!app', 'a>1', '((', ',', 'app=x,app=y', 'é=ü', `${'a,'.repeat(300)}b`, 'a in ()', 'a notin (b', '=', 'a\u0000'],
  fieldSelector: ['metadata.name=one', 'status.phase=Running', 'x=y', '=', 'metadata.name!=,', 'spec.nodeName=', 'metadata.namespace=shop', 'a\\', '__proto__=x'],
  watch: ['1', 'true', 'false', 'False', 'maybe', ''],
  timeoutSeconds: ['1', '-5', 'x', '1.5', '99999999999999999999'],
  allowWatchBookmarks: ['true', 'no', ''],
  dryRun: ['All', 'None', '', 'all', 'All,All'],
  fieldManager: ['property', '', 'x'.repeat(200), 'é', '\u0007'],
  force: ['true', 'false', 'x'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x', ''],
  pretty: ['true', 'false', '1', 'x'],
  gracePeriodSeconds: ['0', '-1', '5', 'x', '99999999999', '9223372036854775808'],
  propagationPolicy: ['Foreground', 'Background', 'Orphan', 'x', ''],
  orphanDependents: ['true', 'False', 'x'],
  'preconditions.uid': ['x'],
  includeObject: ['None', 'Metadata', 'Object', 'x'],
  command: ['sh', ''],
  container: ['', 'x'],
  tailLines: ['1', '-1', 'x'],
  path: ['/x', '../..'],
  timeout: ['10s', '-1s', 'x', '9999h', '1e9s', '5'],
  verbose: ['', '1'],
  exclude: ['etcd', 'nope', ''],
  name: ['x', ''],
  kind: ['Pod'],
};

const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=Table;g=meta.k8s.io;v=v2',
  'application/yaml;as=Table;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/yaml;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  'application/json;q=0.1, application/yaml;q=0.9',
  'application/yaml;q=x, application/json;q=2',
  'application/json;pretty=1',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
  '*/*',
  'application/*',
  '*',
  '',
  ',',
  ';',
  'image/png',
  '/',
  ' application/json ',
  'APPLICATION/JSON',
  `${'a/b,'.repeat(800)}application/json`,
];
const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+json',
  'text/plain',
  '',
  ';',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '*/*',
  `application/json${';a=b'.repeat(500)}`,
];
export const headers: Readonly<Record<string, readonly string[]>> = {
  accept: accepts,
  'content-type': contentTypes,
  'impersonate-user': ['alice', '', 'system:admin', 'system:serviceaccount:shop:front', 'é'.repeat(3)],
  'impersonate-group': ['system:masters', 'dev', ''],
  'impersonate-uid': ['u', ''],
  'impersonate-extra-scopes': ['a', ''],
  'impersonate-extra-%zz': ['a'],
  'x-remote-user': ['admin'],
  'user-agent': ['kubectl/v1.24', 'Mozilla/5.0', '', 'x'.repeat(2000), 'curl/7'],
  'accept-encoding': ['gzip', 'br', 'identity;q=0', 'gzip;q=0', '*'],
  'content-encoding': ['gzip', 'deflate', 'identity', 'x'],
  'if-none-match': ['"x"', '*'],
  'if-match': ['"x"'],
  'if-modified-since': ['Wed, 21 Oct 2015 07:28:00 GMT', 'x'],
  range: ['bytes=0-5', 'x'],
  cookie: ['a=b'],
  origin: ['https://example.com', 'null'],
  'audit-id': ['x'.repeat(100), 'a b', ''],
  traceparent: ['00-x'],
  'x-http-method-override': ['DELETE'],
  'x-long': ['x'.repeat(4000)],
  authorization: ['Bearer ', 'Bearer x.y.z', 'Basic YTpi', 'Bearer', 'x', 'Bearer admin-token, Bearer x'],
};

// biome-ignore format: a table
export const words = ['', 'a', 'one', 'A_B', '..', '.', '%', '%2f', '%00', '%c3%28', 'é', '日本', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'x'.repeat(300), '*', '-', '{}', 'null', '0', '-1', '1e9', '9'.repeat(25), 'true', 'status', 'scale', 'watch', 'namespaces', 'pods', 'shop', 'default', 'finalize', 'approval', 'eviction', 'binding', 'token', 'v1', 'apis', 'api', '\u0000', '\n', '<script>', 'a'.repeat(64), `${'a'.repeat(63)}.${'b'.repeat(63)}`];

/** No address among them is another machine's: a server may be asked to dial what an object names. */
// biome-ignore format: a table
export const values: readonly JsonValue[] = [null, true, false, 0, -1, 1, 1.5, -0.5, 1e308, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 53 - 1, -(2 ** 63), 65536, '', 'x', ' ', '1', '1Gi', '-5m', '1e', 'NaN', '0x1', '1.5', '50%', '101%', '-1%', '2024-13-01T00:00:00Z', '2024-05-01T08:00:00Z', '0000-00-00T00:00:00Z', '1h', '-1s', 'a'.repeat(300), 'A'.repeat(5000), 'é\u0000', '\ud800', '\u2028', '😀', '__proto__', '../x', '127.0.0.1', '::1', '127.0.0.0/8', '256.1.1.1', '[', '(a+)+$', '$(A)', '{{.}}', 'cw==', 'cw=', [], [null], [[]], [{}], {}, { a: null }, { a: { b: [1, 'x', null] } }, { '': '' }, { $patch: 'delete' }, { $patch: 'replace', a: 'b' }, { name: 'x', $patch: 'merge' }, { $retainKeys: ['a'] }, [{ $deleteFromPrimitiveList: 'x' }]];

// biome-ignore format: a table
export const fields = ['name', 'namespace', 'kind', 'apiVersion', 'metadata', 'spec', 'status', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields', 'generateName', 'selfLink', 'clusterName', 'selector', 'template', 'containers', 'initContainers', 'ephemeralContainers', 'volumes', 'env', 'ports', 'replicas', 'items', 'data', 'rules', 'conditions', 'matchLabels', 'matchExpressions', 'key', 'operator', 'values', 'type', 'value', '$patch', '$setElementOrder/containers', '$deleteFromPrimitiveList/finalizers', '$retainKeys', 'op', 'path', 'from', '__proto__', 'constructor', '', 'é', 'a.b', 'f:metadata', 'x'.repeat(400)];

/** Whole values of fields that the server itself works on. */
export const known: Readonly<Record<string, readonly JsonValue[]>> = {
  managedFields: [
    [],
    [{}],
    [{ manager: 'a', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:x': {} } } }],
    [{ manager: 'a', operation: 'Update', apiVersion: 'nope/v9', fieldsType: 'FieldsV1', fieldsV1: { 'k:{"name":"a"}': {}, 'v:1': {} } }],
    [{ manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'k:{': {}, 'f:': 1, 'i:-1': {} } }],
    [{ manager: 'a', operation: 'x', time: 'x', fieldsV1: 'x' }],
  ],
  ownerReferences: [
    [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: 'x', controller: true, blockOwnerDeletion: true }],
    [{ apiVersion: 'a/b/c', kind: '', name: '', uid: '' }],
  ],
  finalizers: [['example.com/hold'], ['foregroundDeletion'], ['orphan'], ['x'], ['']],
  labels: [{ app: 'x' }, { 'a/b/c': 'x' }, { a: 'x y' }, { ['a'.repeat(64)]: '' }],
  resourceVersion: ['1', '0', 'x', '-1', '99999999999999999999'],
  uid: ['x', ''],
  generateName: ['x-', 'X', 'a'.repeat(300)],
  deletionTimestamp: ['2024-05-01T08:00:00Z', 'x'],
};
