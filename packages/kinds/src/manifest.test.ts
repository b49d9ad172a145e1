import { readdirSync, readFileSync } from 'node:fs';
import { parseYamlDocuments } from '@plat-dev/schema/yaml';
import { describe, expect, test } from 'vitest';
import { checkManifest } from './manifest.ts';

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: 'nginx:1.25' }] }
`;

describe('a manifest that a server would accept', () => {
  test('is filled with the defaults of its kind, in its own version', () => {
    const { object, error, warnings } = checkManifest(deployment);
    expect([error, warnings]).toEqual([undefined, []]);
    expect(object).toMatchObject({
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: { spec: { restartPolicy: 'Always', containers: [{ imagePullPolicy: 'IfNotPresent' }] } },
      },
    });
  });

  test('is not changed itself, and may leave its name to the server', () => {
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } };
    const { object, error } = checkManifest(manifest);
    expect(error).toBeUndefined();
    expect(object).toMatchObject({ metadata: { generateName: 'a-', namespace: 'default' } });
    expect(object?.metadata).not.toHaveProperty('name');
    expect(manifest).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } });
  });

  test('may have unknown fields and deprecated versions, of which servers warn', () => {
    const { object, warnings } = checkManifest(deployment.replace('selector:', 'replicaz: 3\n  selector:'));
    expect(warnings).toEqual(['unknown field "spec.replicaz"']);
    expect(object?.spec).not.toHaveProperty('replicaz');
    const budget = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: { name: a }\nspec: { minAvailable: 1 }';
    expect(checkManifest(budget).warnings[0]).toContain('policy/v1beta1 PodDisruptionBudget is deprecated');
  });

  const folder = new URL('../../../examples/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  test.each(files)('examples/%s', (file) => {
    const texts = parseYamlDocuments(readFileSync(new URL(file, folder), 'utf8')) as never[];
    for (const manifest of texts) expect(checkManifest(manifest, { now: Date.UTC(2024, 0, 1) }).error).toBeUndefined();
  });
});

describe('a manifest that a server would refuse', () => {
  test('has a cause for each field that is wrong', () => {
    const wrong = deployment.replace("image: 'nginx:1.25'", 'ports: [{ containerPort: 70000 }]').replace('name: web }', 'name: Web! }');
    const { error } = checkManifest(wrong);
    expect([error?.code, error?.reason]).toEqual([422, 'Invalid']);
    expect(error?.details?.causes?.map(({ field, reason }) => [field, reason])).toEqual([
      ['metadata.name', 'FieldValueInvalid'],
      ['spec.template.spec.containers[0].image', 'FieldValueRequired'],
      ['spec.template.spec.containers[0].ports[0].containerPort', 'FieldValueInvalid'],
    ]);
  });

  test.each([
    ['a field of another type', deployment.replace('spec:', 'spec: { replicas: many }\nunused:'), 'replicas'],
    [
      'a kind that is not built in',
      'apiVersion: example.com/v1\nkind: Widget',
      'no kind "Widget" is built in for version "example.com/v1"',
    ],
    ['a version that the kind does not have', 'apiVersion: apps/v7\nkind: Deployment', 'it is in apps/v1'],
    ['no kind', 'metadata: { name: a }', 'the manifest has no apiVersion and kind'],
    ['a list', '- 1', 'the manifest is not an object'],
    ['text that is not YAML', '{', ''],
  ])('is a bad request: %s', (_name, manifest, message) => {
    const { object, error } = checkManifest(manifest);
    expect([object, error?.code]).toEqual([undefined, 400]);
    expect(error?.message).toContain(message);
  });
});
