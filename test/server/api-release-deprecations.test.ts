/** Every deprecated resource of every release: its warning, its marks in the audit log, and its count in the metrics. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allServed } from '../../packages/kinds/src/older.testing.ts';
import { lifetimeOf, servedByDefault } from '../../packages/kinds/src/releases.ts';
import type { ServedKind } from '../../packages/kinds/src/served-kind.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { apiReleases, isAtLeast } from '../../packages/lib/src/version.ts';
import { startTestServer } from '../../packages/testing/src/index.ts';
import type { Loose } from '../support/server.ts';

const directory = temporaryDirectory('plat-deprecations');
const policy = join(directory, 'policy.yaml');
writeFileSync(
  policy,
  JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', verbs: ['list'] }],
  }),
);

const pathOf = ({ group, version, apiVersion, kind }: ServedKind): string =>
  group === '' ? `/api/${version}/${kind.plural}` : `/apis/${apiVersion}/${kind.plural}`;

test.each(apiReleases)('release %s', async (release) => {
  const lists = allServed.filter(({ kind, version }) => {
    const lifetime = lifetimeOf(kind.group, version, kind.plural);
    if (!kind.verbs.includes('list') || !servedByDefault(lifetime, release)) return false;
    // What no release deprecates is looked at in one of them.
    return release === '1.24' || lifetime?.deprecated !== undefined;
  });
  const removedOf = ({ kind, version }: ServedKind): string | undefined => {
    const { deprecated, removed = '' } = lifetimeOf(kind.group, version, kind.plural) ?? {};
    return deprecated !== undefined && isAtLeast(release, deprecated) ? removed : undefined;
  };
  const log = join(directory, `${release}.log`);
  const server = await startTestServer({
    identity: 'kubernetes',
    apiRelease: release,
    server: { auditPolicyFile: policy, auditLogPath: log },
  });
  expect(lists.length).toBeGreaterThan(release === '1.24' ? 40 : 1);
  const warned = new Map<string, string | null>();
  for (const served of lists) {
    const path = pathOf(served);
    const { status, headers } = await server.request('GET', path);
    expect(status, path).toBe(200);
    warned.set(path, headers.get('warning'));
  }
  const metrics = (await server.request('GET', '/metrics')).text.split('\n');
  await server.close();
  const events: Loose[] = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

  for (const served of lists) {
    const { group, version, kind } = served;
    const path = pathOf(served);
    const removed = removedOf(served);
    const isDeprecated = removed !== undefined;
    const marks = events.find(({ requestURI }) => requestURI === path)?.annotations;
    expect([marks?.['k8s.io/deprecated'], marks?.['k8s.io/removed-release']], path).toEqual([
      isDeprecated ? 'true' : undefined,
      removed || undefined,
    ]);
    expect(warned.get(path)?.includes(' is deprecated in v') ?? false, path).toBe(isDeprecated);
    const count = `apiserver_requested_deprecated_apis{group="${group}",removed_release="${removed ?? ''}",resource="${kind.plural}",subresource="",version="${version}"} 1`;
    expect(metrics.includes(count), count).toBe(isDeprecated);
  }
});
