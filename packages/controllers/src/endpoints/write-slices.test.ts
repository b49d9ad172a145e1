import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test, vi } from 'vitest';
import type { EndpointGroup } from './slices.ts';
import { writeSlices } from './write-slices.ts';

const slices: ResourceRef = { group: 'discovery.k8s.io', version: 'v1', name: 'endpointslices', namespaced: true };
const groups = Array.from(
  { length: 1_000 },
  (_, i): EndpointGroup => ({ addressType: 'IPv4', ports: [{ port: i + 1 }], endpoints: [{ addresses: ['10.0.0.1'] }] }),
);
const owner = { kind: 'Endpoints', apiVersion: 'v1', metadata: { namespace: 'ns', name: 'web', uid: 'u' } };

test('of many slices eight are written at a time, and all of them though one fails', async () => {
  const ports: unknown[] = [];
  let inProgress = 0;
  let most = 0;
  const create = async (_ref: ResourceRef, _namespace: string, slice: { ports: { port: number }[] }): Promise<void> => {
    most = Math.max(most, ++inProgress);
    await new Promise((resolve) => setImmediate(resolve));
    inProgress--;
    ports.push(slice.ports[0]?.port);
    if (ports.length === 10) throw new Error('the store is full');
  };
  const client = { create } as unknown as Client;
  const writing = writeSlices(
    { identity: kubernetes, client, slices, owner, serviceName: 'web', manager: 'mirroring', labels: {} },
    [],
    groups,
  );
  await expect(writing).rejects.toThrow('the store is full');
  expect(most).toBe(8);
  expect(new Set(ports).size).toBe(1_000);
});

test('what slices a thousand sets of ports need is found in many turns', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now++);
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns++;
    immediate = setImmediate(count);
  });
  let turnsUntilWritten = 0;
  const create = async (): Promise<void> => {
    turnsUntilWritten ||= turns;
  };
  const client = { create } as unknown as Client;
  await writeSlices({ identity: kubernetes, client, slices, owner, serviceName: 'web', manager: 'mirroring', labels: {} }, [], groups);
  clearImmediate(immediate);
  expect(turnsUntilWritten).toBeGreaterThan(100);
});
