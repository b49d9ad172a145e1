import { identities } from '@plat-dev/meta/identity';
import { HttpClient } from '@plat-dev/server/http-client/client';
import { expect, test, vi } from 'vitest';
import type { Base } from '../base.ts';
import { composeSimulation } from './simulated-nodes.ts';

test('what calls to the metrics server need is loaded when simulated nodes start, not by a request', async () => {
  const prepare = vi.spyOn(HttpClient, 'prepare').mockImplementation(() => {});
  const options = { workloads: ['nodes'], serviceClusterIpRange: ['10.0.0.0/24'], simulatedNodesForwardLocal: false };
  const simulation = composeSimulation({ options, identity: identities.plat } as unknown as Base);
  expect(prepare).not.toHaveBeenCalled();
  await simulation?.start(() => {});
  expect(prepare).toHaveBeenCalledTimes(1);
  simulation?.close();
});
