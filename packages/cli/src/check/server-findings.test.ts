import { type ApiResource, UnknownKind } from '@plat-dev/client/discovery';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { Catalogue } from '../convert/catalogue.ts';
import type { Work } from '../work.ts';
import { Findings } from './findings.ts';
import { checkServer, MAX_PAGES } from './server-findings.ts';

/** A server with ingresses alone, in so many pages of one object. */
function serverWith(pages: number): { work: Work; paths: string[] } {
  const paths: string[] = [];
  const resource = { group: 'networking.k8s.io', version: 'v1', name: 'ingresses', kind: 'Ingress', namespaced: true, verbs: ['list'] };
  const transport = {
    text: async () => '',
    json: async ({ path }: { path: string }) => {
      if (!path.includes('/ingresses')) return { items: [] };
      paths.push(path);
      const metadata = { name: `i${paths.length}`, namespace: 'a', managedFields: [{ manager: 'm', apiVersion: 'extensions/v1beta1' }] };
      return { metadata: paths.length < pages ? { continue: `page ${paths.length + 1}` } : {}, items: [{ metadata }] };
    },
  };
  const forKind = async (_apiVersion: string, kind: string): Promise<ApiResource> => {
    if (kind === 'Ingress') return resource as unknown as ApiResource;
    if (kind === 'Pod') return { ...resource, group: '', name: 'pods', kind } as unknown as ApiResource;
    throw new UnknownKind(kind, 'v1');
  };
  return { work: { session: { transport, timeout: {} }, discovery: { forKind } } as unknown as Work, paths };
}

test.each([
  [MAX_PAGES, false],
  [MAX_PAGES + 1, true],
])('%d pages of one kind: more are left out: %s', async (pages, isCut) => {
  const { work, paths } = serverWith(pages);
  const findings = new Findings();
  await checkServer(work, new Catalogue(kubernetes), '1.22', findings);
  expect(paths).toHaveLength(MAX_PAGES);
  expect(paths[1]).toContain('continue=page');
  expect(findings.list.filter(({ type }) => type === 'manager')).toHaveLength(MAX_PAGES);
  expect(findings.isPartial).toBe(isCut);
  if (isCut) expect(findings.notSeen).toContain('ingresses.networking.k8s.io after the first 200000 objects');
});
