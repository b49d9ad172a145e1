import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { notFound } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { Catalog } from '../../registry/catalog.ts';
import { Registrations, SETTLE_MS } from './registrations.ts';

const GROUP = 'apiregistration';
const PLURAL = 'apiservices';
const label = (value: string) => ({ 'kube-aggregator.kubernetes.io/automanaged': value });

/** A catalogue of group versions: `apps/v1` is built in, `x.example.com/v1` is not. */
class FakeCatalog {
  listener = (): void => {};
  served: string[] = ['apps/v1'];
  serve(...served: string[]): void {
    this.served = served;
    this.listener();
  }
  onChange(listener: () => void) {
    this.listener = listener;
    return () => {};
  }
  all() {
    return this.served.map((text) => {
      const [group = '', version = ''] = text.split('/');
      return { kind: { group }, resources: [{ group, version, custom: group.includes('.example.') }] };
    });
  }
}

function setup(present: readonly object[] = []) {
  const store = new FakeStore();
  const catalog = new FakeCatalog();
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const writes: string[] = [];
  for (const one of present) store.put(GROUP, PLURAL, one as ApiObject);
  const view = store.view(GROUP, PLURAL);
  const writer = {
    ensure: async (_group: string, _plural: string, object: object) => {
      const { name } = (object as ApiObject).metadata;
      writes.push(`make ${name}`);
      if (view.get('', name ?? '') === undefined) store.put(GROUP, PLURAL, structuredClone(object) as ApiObject);
      return true;
    },
    change: async (_group: string, _plural: string, _namespace: string, name: string, change: (object: ApiObject) => void) => {
      writes.push(`change ${name}`);
      const object = structuredClone(view.get('', name));
      if (object === undefined) throw notFound({ group: '', resource: PLURAL }, name);
      change(object);
      store.put(GROUP, PLURAL, object);
    },
    remove: async (_group: string, _plural: string, _namespace: string, name: string) => {
      writes.push(`remove ${name}`);
      store.remove(GROUP, PLURAL, '', name);
    },
  };
  const registrations = new Registrations({
    identity: kubernetes,
    catalog: catalog as unknown as Catalog,
    services: store.live<APIService>(GROUP, PLURAL),
    writer,
    clock,
    report: (error) => errors.push(error),
  });
  const names = () => view.list().map(({ metadata }) => metadata.name);
  const spec = (name: string) => (view.get('', name) as APIService | undefined)?.spec;
  return { store, catalog, clock, registrations, names, spec, writes, writer, errors };
}
const object = (name: string, spec: object, labels?: object) => ({
  metadata: { name, ...(labels && { labels }) },
  spec: { group: name.slice(name.indexOf('.') + 1), version: name.slice(0, name.indexOf('.')), ...spec },
  status: {},
});

test('at the start what is missing is made, what is old brought up to date, what is served no more removed', async () => {
  const stale = { groupPriorityMinimum: 1, versionPriority: 1 };
  const { registrations, clock, names, spec, writes } = setup([
    object('v1.apps', stale, label('onstart')),
    object('v1.gone', stale, label('onstart')),
    object('v1.other.org', stale),
  ]);
  registrations.start();
  await clock.advance(0);
  expect(names()).toEqual(['v1.apps', 'v1.other.org']);
  expect(spec('v1.apps')).toMatchObject({ groupPriorityMinimum: 17800, versionPriority: 15 });
  expect(writes).toEqual(['change v1.apps', 'remove v1.gone']);
});

test('a round that fails is a problem until one succeeds', async () => {
  const { registrations, clock, writer } = setup();
  expect(registrations.problem()).toBe('not started');
  const { ensure } = writer;
  writer.ensure = async () => {
    throw new Error('no space');
  };
  registrations.start();
  await clock.advance(0);
  expect(registrations.problem()).toBe('the last round failed: no space');
  writer.ensure = ensure;
  await clock.advance(5000);
  expect(registrations.problem()).toBeUndefined();
});

test('later a built-in one may be changed, but comes back when it is deleted', async () => {
  const { store, registrations, clock, names, spec } = setup();
  registrations.start();
  await clock.advance(0);
  store.put(GROUP, PLURAL, object('v1.apps', { groupPriorityMinimum: 7, versionPriority: 7 }, label('onstart')) as never);
  await clock.advance(0);
  expect(spec('v1.apps')?.versionPriority).toBe(7);
  store.remove(GROUP, PLURAL, '', 'v1.apps');
  await clock.advance(0);
  expect(names()).toEqual(['v1.apps']);
  expect(spec('v1.apps')?.versionPriority).toBe(15);
});

test('custom groups come and go with their kinds, and are kept as they should be', async () => {
  const { store, catalog, registrations, clock, names, spec } = setup();
  registrations.start();
  catalog.serve('apps/v1', 'x.example.com/v1');
  await clock.advance(0);
  expect(spec('v1.x.example.com')).toEqual({ group: 'x.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
  store.put(GROUP, PLURAL, object('v1.x.example.com', { groupPriorityMinimum: 7, versionPriority: 7 }, label('true')) as never);
  await clock.advance(0);
  expect(spec('v1.x.example.com')?.versionPriority).toBe(100);
  // A kind that is replaced is away for a moment.
  catalog.serve('apps/v1');
  await clock.advance(0);
  await clock.advance(SETTLE_MS - 1);
  catalog.serve('apps/v1', 'x.example.com/v1');
  await clock.advance(SETTLE_MS * 2);
  expect(names()).toEqual(['v1.apps', 'v1.x.example.com']);
  catalog.serve('apps/v1');
  await clock.advance(0);
  await clock.advance(SETTLE_MS);
  expect(names()).toEqual(['v1.apps']);
});

test('an object without the label is somebody else’s', async () => {
  const { catalog, registrations, clock, spec, writes } = setup([object('v1.x.example.com', { service: { name: 's', namespace: 'n' } })]);
  registrations.start();
  catalog.serve('apps/v1', 'x.example.com/v1');
  await clock.advance(SETTLE_MS * 2);
  catalog.serve('apps/v1');
  await clock.advance(SETTLE_MS * 2);
  expect(spec('v1.x.example.com')?.service).toEqual({ name: 's', namespace: 'n' });
  expect(writes).toEqual(['make v1.apps']);
});

test('a write that fails is tried again', async () => {
  const { registrations, clock, names, writer, errors } = setup();
  const { ensure } = writer;
  writer.ensure = async () => {
    throw new Error('no store');
  };
  registrations.start();
  await clock.advance(0);
  expect(errors).toEqual([new Error('no store')]);
  writer.ensure = ensure;
  await clock.advance(5000);
  expect(names()).toEqual(['v1.apps']);
});
