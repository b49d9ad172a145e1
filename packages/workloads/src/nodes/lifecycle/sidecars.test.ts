/** Sidecars, restarts by rules of containers, and resizes. */
import type { Loose } from '@plat-dev/controllers/testing';
import { describe, expect, test } from 'vitest';
import { Life } from './life.testing.ts';

const side = { name: 'side', image: 'proxy:1', restartPolicy: 'Always' };
const main = { name: 'main', image: 'nginx:1.25' };
const statuses = (life: Life, field: string): string[] =>
  (life.pod.status[field] ?? []).map(({ name, state }: Loose) => `${name} ${Object.keys(state)[0]}`);

describe('sidecars', () => {
  test('start in their place among the init containers, and run beside the main ones', () => {
    const initContainers = [{ name: 'first', image: 'i' }, side, { name: 'last', image: 'i' }];
    const life = new Life({ initContainers, containers: [main] }).to(0);
    expect(statuses(life, 'initContainerStatuses')).toEqual(['first terminated', 'side running', 'last terminated']);
    expect(statuses(life, 'containerStatuses')).toEqual(['main running']);
    expect(life.pod.status.initContainerStatuses[1]).toMatchObject({ ready: true, started: true });
    expect(life.pod.status.phase).toBe('Running');
    expect(life.condition('Ready').status).toBe('True');
  });
  test('hold up what is behind them until they have started', () => {
    const life = new Life({ initContainers: [side], containers: [main] }, [{ stage: 'pull', containers: ['side'], delay: '5s' }]).to(1);
    expect(statuses(life, 'initContainerStatuses')).toEqual(['side waiting']);
    expect(statuses(life, 'containerStatuses')).toEqual(['main waiting']);
    expect(life.condition('Initialized').message).toBe('containers with incomplete status: [side]');
    expect(statuses(life.to(5), 'containerStatuses')).toEqual(['main running']);
  });
  test('count for the readiness of the pod', () => {
    const life = new Life({ initContainers: [side], containers: [main] }, [{ stage: 'ready', containers: ['side'], never: true }]).to(0);
    expect(life.condition('ContainersReady')).toMatchObject({ status: 'False', message: 'containers with unready status: [side]' });
  });
  test('start again whatever the pod says, and the main containers go on', () => {
    const spec = { restartPolicy: 'Never', initContainers: [side], containers: [main] };
    const life = new Life(spec, [
      { stage: 'exit', containers: ['side'], delay: '5s', exitCode: 3 },
      { stage: 'exit', containers: ['main'], never: true },
    ]).to(6);
    expect(life.pod.status.initContainerStatuses[0]).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(statuses(life, 'containerStatuses')).toEqual(['main running']);
    // The second restart has a delay.
    expect(statuses(life.to(11), 'initContainerStatuses')).toEqual(['side waiting']);
    expect(statuses(life, 'containerStatuses')).toEqual(['main running']);
  });
  test('end after the main containers, the last one first, and then the pod is over', () => {
    const initContainers = [
      { ...side, name: 'one' },
      { ...side, name: 'two' },
    ];
    const life = new Life({ restartPolicy: 'Never', initContainers, containers: [main] }, [{ stage: 'exit', delay: '10s' }]);
    life.stop = { one: { afterMs: 2000, exitCode: 143 }, two: { afterMs: 3000, exitCode: 0 } };
    expect(life.to(10).pod.status.phase).toBe('Running');
    expect(statuses(life, 'containerStatuses')).toEqual(['main terminated']);
    expect(statuses(life, 'initContainerStatuses')).toEqual(['one running', 'two running']);
    expect(statuses(life.to(13), 'initContainerStatuses')).toEqual(['one running', 'two terminated']);
    expect(life.pod.status.phase).toBe('Running');
    expect(statuses(life.to(15), 'initContainerStatuses')).toEqual(['one terminated', 'two terminated']);
    expect(life.pod.status.phase).toBe('Succeeded');
    expect(
      life.pod.status.initContainerStatuses.map(({ state, restartCount }: Loose) => [state.terminated.exitCode, restartCount]),
    ).toEqual([
      [143, 0],
      [0, 0],
    ]);
  });
});

describe('restarts', () => {
  const exits = (exitCode: number, delay = '10s') => [{ stage: 'exit', containers: ['main'], delay, exitCode } as const];
  const rule = (action: string, ...values: number[]) => ({ action, exitCodes: { operator: 'In', values } });
  test('follow the policy of the container before that of the pod', () => {
    const life = new Life({ restartPolicy: 'Always', containers: [{ ...main, restartPolicy: 'Never' }] }, exits(1)).to(30);
    expect(life.pod.status.phase).toBe('Failed');
    const other = new Life({ restartPolicy: 'Never', containers: [{ ...main, restartPolicy: 'OnFailure' }] }, exits(1)).to(15);
    expect(other.state).toMatchObject({ restartCount: 1, state: { running: {} } });
  });
  test('follow the rule that an exit code matches', () => {
    const containers = [{ ...main, restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 42)] }];
    expect(new Life({ restartPolicy: 'Never', containers }, exits(42)).to(15).state.restartCount).toBe(1);
    expect(new Life({ restartPolicy: 'Never', containers }, exits(41)).to(15).pod.status.phase).toBe('Failed');
  });
  test('of all containers begin with the init containers, at once and then with delays', () => {
    const containers = [
      { ...main, restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers', 7)] },
      { ...main, name: 'other' },
    ];
    const life = new Life({ restartPolicy: 'Never', initContainers: [{ name: 'init', image: 'i' }], containers }, [
      ...exits(7),
      { stage: 'exit', containers: ['other'], never: true },
    ]);
    life.to(11);
    const counts = () =>
      [...life.pod.status.initContainerStatuses, ...life.pod.status.containerStatuses].map(({ restartCount }: Loose) => restartCount);
    expect(counts()).toEqual([1, 1, 1]);
    expect(life.pod.status.containerStatuses[1].lastState.terminated.exitCode).toBe(137);
    // It exits again at 20 s, and all begin again 10 s later.
    life.to(25);
    expect([statuses(life, 'containerStatuses'), life.pod.status.phase]).toEqual([['main terminated', 'other running'], 'Running']);
    life.to(31);
    expect(counts()).toEqual([2, 2, 2]);
  });
});

describe('resizes', () => {
  const resources = (cpu: string) => ({ requests: { cpu }, limits: { cpu: '4' } });
  const started = (more: object = {}): Life =>
    new Life({ containers: [{ ...main, resources: resources('1'), ...more }] }, [], { generation: 1 }).to(0);
  const resize = (life: Life, cpu: string): void => {
    life.pod.spec = { ...life.pod.spec, containers: [{ ...life.pod.spec.containers[0], resources: resources(cpu) }] };
    life.pod.metadata = { ...life.pod.metadata, generation: life.pod.metadata.generation + 1 };
  };
  test('are done at once where there is room', () => {
    const life = started();
    expect(life.state).toMatchObject({ resources: resources('1'), allocatedResources: { cpu: '1' } });
    expect(life.pod.status.observedGeneration).toBe(1);
    resize(life, '2');
    expect(life.to(1).state).toMatchObject({ resources: resources('2'), allocatedResources: { cpu: '2' }, restartCount: 0 });
    expect(life.pod.status.observedGeneration).toBe(2);
    expect(life.condition('PodResizeInProgress')).toBeUndefined();
  });
  test('wait with a condition while there is none', () => {
    const life = started();
    resize(life, '3');
    life.refusal = { reason: 'Deferred', message: 'too little' };
    expect(life.to(1).state).toMatchObject({ resources: resources('1'), allocatedResources: { cpu: '1' } });
    expect(life.condition('PodResizePending')).toMatchObject({
      status: 'True',
      reason: 'Deferred',
      message: 'too little',
      observedGeneration: 2,
    });
    life.refusal = undefined;
    expect(life.to(2).state.resources).toEqual(resources('3'));
    expect(life.condition('PodResizePending')).toBeUndefined();
  });
  test('restart a container that asks for it, which takes as long as it takes to stop', () => {
    const life = started({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] });
    resize(life, '2');
    life.stop = { afterMs: 5000, exitCode: 0 };
    expect(life.to(1).state).toMatchObject({ resources: resources('1'), allocatedResources: { cpu: '2' }, restartCount: 0 });
    expect(life.condition('PodResizeInProgress').status).toBe('True');
    expect(life.to(7).state).toMatchObject({ resources: resources('2'), restartCount: 1, state: { running: {} } });
    expect(life.condition('PodResizeInProgress')).toBeUndefined();
  });
  test('are unknown to pods of servers that do not count changes', () => {
    const life = new Life({ containers: [{ ...main, resources: resources('1') }] }).to(0);
    expect(life.state).not.toHaveProperty('resources');
    expect(life.pod.status).not.toHaveProperty('observedGeneration');
  });
});

test('the signal that stops a container is in its status', () => {
  const life = new Life({ containers: [{ ...main, lifecycle: { stopSignal: 'SIGUSR1' } }] }).to(0);
  expect(life.state.stopSignal).toBe('SIGUSR1');
});
