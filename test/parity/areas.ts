/**
 * Which recorded conversations belong to which part of the server. An area is replayed by the tests once it is named in
 * `required`: from then on every case of it must pass, or stand in known.json or deliberate.json with its reason.
 */
export const areas: Readonly<Record<string, readonly string[]>> = {
  // What waits longest begins first.
  'lifecycle of definitions': ['crd-lifecycle'],
  controllers: ['deletion', 'garbage-collection', 'namespaces', 'certificates', 'bootstrap-tokens', 'service-account-tokens'],
  custom: ['crd-apply', 'crd-objects', 'crd-schema', 'crd-subresources', 'crd-validation', 'crd-values', 'crd-versions', 'apply-custom'],
  kinds: ['kinds-*', 'versions-*', 'write-kinds'],
  patches: [
    'json-patch',
    'merge-patch',
    'strategic-patch',
    'patch-kinds',
    'apply',
    'apply-lists',
    'apply-kinds',
    'managed-fields',
    'dry-run',
    'field-validation',
    'subresources',
    'pod-subresources',
  ],
  reading: ['configmaps', 'lists', 'selectors', 'watches', 'tables', 'negotiation', 'discovery', 'names', 'aggregation'],
  admission: ['webhook-config', 'webhooks-validating', 'webhooks-mutating', 'admission-default', 'pod-security', 'limit-ranges', 'quota'],
  auth: ['authentication', 'rbac-refusals', 'rbac-rules', 'rbac-objects', 'access-reviews', 'impersonation', 'node-authorizer'],
};

export const required: readonly (keyof typeof areas)[] = Object.keys(areas);

/** The suites of an area among those that there are; a star stands for any ending. */
export function suitesOf(area: keyof typeof areas, present: readonly string[]): string[] {
  return (areas[area] ?? []).flatMap((pattern) =>
    present.filter((suite) => (pattern.endsWith('*') ? suite.startsWith(pattern.slice(0, -1)) : suite === pattern)),
  );
}
