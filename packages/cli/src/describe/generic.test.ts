import { describe, expect, test } from 'vitest';
import { describeAny, fieldLabel } from './generic.ts';
import { Page } from './page.ts';

test.each([
  ['apiVersion', 'API Version'],
  ['uid', 'UID'],
  ['ownerReferences', 'Owner References'],
  ['someHTTPServer', 'Some HTTP Server'],
  ['clusterIPs', 'Cluster I Ps'],
  ['baseURL', 'Base URL'],
  ['with-dash', 'With - Dash'],
  ['cpu2', 'cpu2'],
  ['a.b/c', 'a.b/c'],
])('the field %s is called %s', (field, label) => {
  expect(fieldLabel(field)).toBe(label);
});

describe('a kind without a page of its own', () => {
  const object = {
    kind: 'Widget',
    apiVersion: 'shop.example/v1',
    metadata: { name: 'a', namespace: 'n', labels: { x: 'y' }, generation: 2, managedFields: [{ manager: 'me' }] },
    spec: {
      size: 3,
      ratio: 0.5,
      tiny: 0.00001,
      many: 1_234_567.5,
      on: true,
      none: null,
      list: ['a', 1, ['x', { b: 2, a: 1 }]],
      parts: [{ name: 'p' }, { name: 'q' }],
    },
  };
  const text = (managed: boolean): string => {
    const page = new Page();
    describeAny(page, object, managed);
    return page.toString();
  };
  test('fields are in order of their names, at levels', () => {
    expect(text(false)).toBe(`Name:         a
Namespace:    n
Labels:       x=y
Annotations:  <none>
API Version:  shop.example/v1
Kind:         Widget
Metadata:
  Generation:  2
Spec:
  List:
    a
    1
    [x map[a:1 b:2]]
  Many:  1.2345675e+06
  None:  <nil>
  On:    true
  Parts:
    Name:  p
    Name:  q
  Ratio:   0.5
  Size:    3
  Tiny:    1e-05
`);
  });
  test('managed fields are shown where that is asked for', () => {
    expect(text(true)).toContain('  Managed Fields:\n    Manager:  me\n');
    expect(text(false)).not.toContain('Manage');
  });
});
