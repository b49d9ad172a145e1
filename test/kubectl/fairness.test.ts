/** Flow control by a stock kubectl: objects that change while the server runs, and the debug pages. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { kubectlFixture, kubectlMissing } from '../support/kubectl.ts';

describe.skipIf(kubectlMissing !== undefined)(`flow control by kubectl ${kubectlMissing ?? ''}`, () => {
  const fixture = kubectlFixture();
  const debug = '/debug/api_priority_and_fairness';
  const uidOf = async (kind: string, name: string): Promise<string> => (await fixture.kubectl.json(['get', kind, name])).metadata.uid;
  const levelUid = async (): Promise<unknown> =>
    (await fixture.server.alice.get('/api/v1/nodes')).headers['x-kubernetes-pf-prioritylevel-uid'];

  test('debug pages', async () => {
    const { kubectl } = fixture;
    const levels = (await kubectl.ok(['get', '--raw', `${debug}/dump_priority_levels`])).trimEnd().split('\n');
    expect(levels[0]?.split(/,\s*/)).toEqual([
      'PriorityLevelName',
      'ActiveQueues',
      'IsIdle',
      'IsQuiescing',
      'WaitingRequests',
      'ExecutingRequests',
      'DispatchedRequests',
      'RejectedRequests',
      'TimedoutRequests',
      'CancelledRequests',
    ]);
    expect(levels.slice(1).map((line) => line.split(',')[0])).toEqual([
      'catch-all',
      'exempt',
      'global-default',
      'leader-election',
      'node-high',
      'system',
      'workload-high',
      'workload-low',
    ]);
    const queues = (await kubectl.ok(['get', '--raw', `${debug}/dump_queues`])).trimEnd().split('\n');
    expect(queues.filter((line) => line.startsWith('global-default,'))).toHaveLength(128);
    expect(await kubectl.ok(['get', '--raw', `${debug}/dump_requests`])).toMatch(/^PriorityLevelName, +FlowSchemaName,/);
  });

  test('a level and a schema of one’s own lead requests elsewhere, and back when they go', async () => {
    const { kubectl } = fixture;
    const version = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2' };
    const before = await levelUid();
    await kubectl.ok(['apply', '-f', '-'], {
      ...version,
      kind: 'FlowSchema',
      metadata: { name: 'alice' },
      spec: {
        priorityLevelConfiguration: { name: 'alice' },
        matchingPrecedence: 300,
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'alice' } }],
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
          },
        ],
      },
    });
    await kubectl.ok(['wait', '--for=condition=Dangling', 'flowschema/alice', '--timeout=100s']);
    expect(await levelUid()).toBe(before);
    await kubectl.ok(['apply', '-f', '-'], {
      ...version,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'alice' },
      spec: { type: 'Limited', limited: { assuredConcurrencyShares: 7, limitResponse: { type: 'Reject' } } },
    });
    expect(await levelUid()).toBe(await uidOf('prioritylevelconfiguration', 'alice'));
    expect(await kubectl.ok(['get', '--raw', '/metrics'])).toContain('request_concurrency_limit{priority_level="alice"} 17');
    await kubectl.ok(['delete', 'prioritylevelconfiguration', 'alice']);
    expect(await levelUid()).toBe(before);
    await kubectl.ok(['delete', 'flowschema', 'alice']);
  });

  test('the example of docs/fairness.md', async () => {
    const { kubectl, server } = fixture;
    const page = readFileSync(new URL('../../docs/fairness.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    await kubectl.ok(['apply', '-f', '-'], example);
    expect(await kubectl.ok(['get', 'flowschema', 'reports'])).toMatch(/reports +reports +400 +ByUser .* False/);
    const answer = await server.admin.get('/api/v1/nodes', { 'impersonate-user': 'report' });
    expect(answer.headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf('flowschema', 'reports'));
    const levels = await kubectl.ok(['get', '--raw', `${debug}/dump_priority_levels`]);
    expect(levels).toMatch(/^reports, +0, +true, +false, +0, +0, +1, +0,/m);
  });

  test('mandatory objects come back; suggested ones too, or stay as their owner wants them', async () => {
    const { kubectl } = fixture;
    const uid = await uidOf('prioritylevelconfiguration', 'catch-all');
    await kubectl.ok(['delete', 'prioritylevelconfiguration', 'catch-all', '--wait=false']);
    let back: string | undefined;
    while (back === undefined || back === uid) back = await uidOf('prioritylevelconfiguration', 'catch-all').catch(() => undefined);
    const shares = async (): Promise<number> =>
      (await kubectl.json(['get', 'prioritylevelconfiguration', 'system'])).spec.limited.assuredConcurrencyShares;
    const patch = JSON.stringify({ spec: { limited: { assuredConcurrencyShares: 31 } } });
    await kubectl.ok(['patch', 'prioritylevelconfiguration', 'system', '--type=merge', '-p', patch]);
    while ((await shares()) !== 30);
    await kubectl.ok(['annotate', '--overwrite', 'prioritylevelconfiguration', 'system', 'apf.kubernetes.io/autoupdate-spec=false']);
    await kubectl.ok(['patch', 'prioritylevelconfiguration', 'system', '--type=merge', '-p', patch]);
    // Another object that the server keeps comes back after this one was looked at.
    await kubectl.ok(['delete', 'flowschema', 'probes']);
    while ((await uidOf('flowschema', 'probes').catch(() => undefined)) === undefined);
    expect(await shares()).toBe(31);
  });
});
