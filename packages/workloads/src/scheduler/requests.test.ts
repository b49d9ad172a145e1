import { describe, expect, test } from 'vitest';
import { nodeAllocatable, podRequests } from './requests.ts';

type Pod = Parameters<typeof podRequests>[0];
const container = (requests?: Record<string, string>) => ({ name: 'c', resources: requests === undefined ? {} : { requests } });
const spec = (containers: unknown[], initContainers: unknown[] = [], overhead?: Record<string, string>): Pod =>
  ({ spec: { containers, initContainers, ...(overhead !== undefined && { overhead }) } }) as Pod;

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
  test('count sidecars beside the containers and beside the init containers after them', () => {
    const sidecar = (cpu: string) => ({ ...container({ cpu }), restartPolicy: 'Always' });
    expect(podRequests(spec([container({ cpu: '1' })], [container({ cpu: '3' }), sidecar('1'), container({ cpu: '2' })])).cpu).toBe(3000);
    expect(podRequests(spec([container({ cpu: '1' })], [sidecar('1'), container({ cpu: '3' })])).cpu).toBe(4000);
    expect(podRequests(spec([container({ cpu: '5' })], [sidecar('1'), sidecar('1')])).cpu).toBe(7000);
  });
  test('are what the pod states for all its containers, where it does', () => {
    const pod = { spec: { containers: [container({ cpu: '1', memory: '5' })], resources: { requests: { cpu: '2', other: '1' } } } } as Pod;
    expect(podRequests(pod)).toMatchObject({ cpu: 2000, memory: 5, scoredCpu: 2000, others: [] });
  });
  test('are what containers have while a resize to less is not done, and while one to more cannot be done', () => {
    const status = (reason?: string) => ({
      containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '2' } }],
      ...(reason !== undefined && { conditions: [{ type: 'PodResizePending', status: 'True', reason }] }),
    });
    const pod = (cpu: string, reason?: string) => ({ ...spec([container({ cpu })]), status: status(reason) }) as unknown as Pod;
    expect([podRequests(pod('1')).cpu, podRequests(pod('3')).cpu]).toEqual([2000, 3000]);
    expect([podRequests(pod('3', 'Deferred')).cpu, podRequests(pod('9', 'Infeasible')).cpu]).toEqual([3000, 2000]);
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
