/** What the server of the property has besides the examples, and when it is at rest. */
import { define, definitionOf } from '../support/custom.ts';
import type { Loose, TestServer } from '../support/server.ts';

const CUSTOM = 'property.example.com';

/** Definitions of two versions each, with what schemas usually say, and an object of each. */
export async function seedCustom(server: TestServer, objects: { object: Loose; path: string; kept: boolean }[]): Promise<void> {
  const x = (key: string): string => `${server.identity.schemaExtensionPrefix}${key}`;
  const part = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', pattern: '^[a-z]+$' }, weight: { type: 'number' } },
  };
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
      parts: { type: 'array', [x('list-type')]: 'map', [x('list-map-keys')]: ['name'], items: part },
      note: { type: 'string', maxLength: 50, enum: ['n', 'm', 'o'], nullable: true },
      any: { type: 'object', [x('preserve-unknown-fields')]: true },
      embedded: { type: 'object', [x('embedded-resource')]: true, [x('preserve-unknown-fields')]: true },
      port: { [x('int-or-string')]: true },
      map: { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
      when: { type: 'string', format: 'date-time' },
    },
  };
  const schema = { type: 'object', properties: { spec, status: { type: 'object', properties: { size: { type: 'integer' } } } } };
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
  const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
  const version = (name: string) => ({ name, schema, subresources: { status: {}, scale }, additionalPrinterColumns: columns });
  for (const [kind, scope] of [
    ['Widget', 'Namespaced'],
    ['Depot', 'Cluster'],
  ] as const) {
    await define(server, definitionOf(server, CUSTOM, kind, [version('v1'), version('v1beta1')], { scope }));
    const metadata = { name: 'one', ...(scope === 'Namespaced' && { namespace: 'shop' }) };
    const object = {
      apiVersion: `${CUSTOM}/v1`,
      kind,
      metadata,
      spec: { size: 3, parts: [{ name: 'a', weight: 1.5 }], note: 'n', any: { deep: [1, { x: null }] }, map: { a: 1 }, port: 'x' },
    };
    const path = `/apis/${CUSTOM}/v1/${scope === 'Namespaced' ? 'namespaces/shop/' : ''}${kind.toLowerCase()}s`;
    await server.admin.ok('POST', path, object);
    objects.push({ object, path, kept: true });
  }
  const voucher = {
    apiVersion: 'shop.example.com/v1',
    kind: 'Voucher',
    metadata: { name: 'one', namespace: 'shop' },
    spec: { percent: 5 },
  };
  objects.push({ object: voucher, path: '/apis/shop.example.com/v1/namespaces/shop/vouchers', kept: true });
}

/** Waits until the server has written what it writes about its own objects. */
export async function settled({ admin, identity }: TestServer): Promise<void> {
  const every = async (path: string, done: (object: Loose) => boolean): Promise<void> => {
    const list = await admin.ok('GET', path);
    const open = new Set(list.items.filter((one: Loose) => !done(one)).map((one: Loose) => one.metadata.name));
    if (open.size === 0) return;
    const watch = await admin.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
    await watch.until(({ object }) => {
      if (done(object)) open.delete(object.metadata.name);
      return open.size === 0;
    });
    watch.close();
  };
  const has = (type: string) => (object: Loose) => object.status?.conditions?.some((one: Loose) => one.type === type) === true;
  const { groupSuffix } = identity;
  await every(`/apis/apiextensions.${groupSuffix}/v1/customresourcedefinitions`, has('Established'));
  await every(`/apis/apiregistration.${groupSuffix}/v1/apiservices`, has('Available'));
  await every(`/apis/flowcontrol.apiserver.${groupSuffix}/v1beta2/flowschemas`, has('Dangling'));
}
