import { expect, test } from 'vitest';
import { workloadControllerNames } from '../runtime/workload-names.ts';
import { workloadControllers } from './index.ts';

test('the names of the controllers are known without loading them', () => {
  const { controllers } = workloadControllers({ parts: new Set(['controllers']), simulatedNodes: 0, feature: () => false });
  expect(controllers.map(({ name }) => name).sort()).toEqual([...workloadControllerNames].sort());
});

test('parts run what they say', () => {
  const names = (...parts: ('controllers' | 'scheduler' | 'nodes')[]): string[] => {
    const { others } = workloadControllers({ parts: new Set(parts), simulatedNodes: 1, feature: () => false });
    return others.map(({ name }) => name);
  };
  expect(names('scheduler')).toEqual(['scheduler']);
  expect(names('nodes')).toEqual(['simulated-volumes', 'simulated-attachments', 'simulated-nodes']);
  expect(names('controllers')).toEqual(['simulated-volumes', 'simulated-attachments']);
  expect(names('scheduler', 'nodes')).toEqual(['scheduler', 'simulated-volumes', 'simulated-attachments', 'simulated-nodes']);
});
