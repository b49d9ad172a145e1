import { workloadControllerNames } from '@plat-dev/controllers/runtime/workload-names';
import { expect, test } from 'vitest';
import { type WorkloadSettings, workloadControllers } from './index.ts';

const settings: WorkloadSettings = { parts: new Set(), simulatedNodes: 1, loadBalancerRange: ['198.18.0.0/16'], feature: () => false };

test('the names of the controllers are known without loading them', () => {
  const { controllers } = workloadControllers({ ...settings, parts: new Set(['controllers']) });
  expect(controllers.map(({ name }) => name).sort()).toEqual([...workloadControllerNames].sort());
});

test('parts run what they say', () => {
  const names = (...parts: ('controllers' | 'scheduler' | 'nodes')[]): string[] => {
    const { others } = workloadControllers({ ...settings, parts: new Set(parts) });
    return others.map(({ name }) => name);
  };
  expect(names('scheduler')).toEqual(['scheduler']);
  const ofNodes = ['simulated-volumes', 'simulated-attachments', 'simulated-nodes', 'simulated-load-balancers'];
  expect(names('nodes')).toEqual(ofNodes);
  expect(names('controllers')).toEqual(['simulated-volumes', 'simulated-attachments']);
  expect(names('scheduler', 'nodes')).toEqual(['scheduler', ...ofNodes]);
  const { others } = workloadControllers({ ...settings, parts: new Set(['nodes']), loadBalancerRange: [] });
  expect(others.map(({ name }) => name)).toEqual(ofNodes.slice(0, -1));
});
