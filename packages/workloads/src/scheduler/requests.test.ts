import { describe, expect, test } from 'vitest';
import { nodeAllocatable, podRequests } from './requests.ts';

type Spec = Parameters<typeof podRequests>[0];
const container = (requests?: Record<string, string>) => ({ name: 'c', resources: requests === undefined ? {} : { requests } });
const spec = (containers: unknown[], initContainers: unknown[] = [], overhead?: Record<string, string>): Spec =>
  ({ containers, initContainers, ...(overhead !== undefined && { overhead }) }) as Spec;

describe('requests of a pod', () => {
  test('are the sum of its containers', () => {
    expect(podRequests(spec([container({ cpu: '100m', memory: '1Ki' }), container({ cpu: '1' })]))).toMatchObject({
      cpu: 1100,
      memory: 1024,
      storage: 0,
      others: [],
    });
  });
  test('are at least those of the largest init container, and overhead is added', () => {
    const requests = podRequests(
      spec([container({ cpu: '1', memory: '10' })], [container({ cpu: '3' }), container({ cpu: '2', memory: '5' })], {
        cpu: '500m',
        memory: '7',
      }),
    );
    expect(requests).toMatchObject({ cpu: 3500, memory: 17 });
  });
  test('count extended resources and huge pages, and none of zero', () => {
    const { others } = podRequests(spec([container({ 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'example.com/none': '0' })]));
    expect(new Map(others)).toEqual(
      new Map([
        ['example.com/gpu', 2],
        ['hugepages-2Mi', 4 * 1024 * 1024],
      ]),
    );
  });
  test('have a default in scores, for each container that requests none', () => {
    const { cpu, memory, scoredCpu, scoredMemory } = podRequests(spec([container(), container({ cpu: '1' })]));
    expect({ cpu, memory }).toEqual({ cpu: 1000, memory: 0 });
    expect({ scoredCpu, scoredMemory }).toEqual({ scoredCpu: 1100, scoredMemory: 400 * 1024 * 1024 });
  });
});

test('a node has what is allocatable', () => {
  const found = nodeAllocatable({ cpu: '1500m', memory: '1Mi', 'ephemeral-storage': '1k', pods: '10', 'example.com/gpu': '1' });
  expect(found).toEqual({ cpu: 1500, memory: 1024 * 1024, storage: 1000, pods: 10, others: new Map([['example.com/gpu', 1]]) });
});
