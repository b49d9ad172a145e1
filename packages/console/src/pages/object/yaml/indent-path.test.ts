import { expect, test } from 'vitest';
import { placeOfLine } from './indent-path.ts';

const text = `apiVersion: apps/v1
metadata:
  labels:
    app: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: web:1
        ports:
        - containerPort: 80
          na
        env:
          - name: A
            valueFrom:
              
      restart
`.split('\n');
const placeAt = (number: number, column = 0) => placeOfLine((n) => text[n - 1] ?? '', number, column);

test.each([
  [1, [], 'apiVersion'],
  [4, ['metadata', 'labels'], 'app'],
  [6, ['spec'], 'replicas'],
  [10, ['spec', 'template', 'spec', 'containers', 0], 'name'],
  [11, ['spec', 'template', 'spec', 'containers', 0], 'image'],
  [13, ['spec', 'template', 'spec', 'containers', 0, 'ports', 0], 'containerPort'],
  [14, ['spec', 'template', 'spec', 'containers', 0, 'ports', 0], 'na'],
  [16, ['spec', 'template', 'spec', 'containers', 0, 'env', 0], 'name'],
  [19, ['spec', 'template', 'spec'], 'restart'],
])('line %i stands in %j', (number, path, key) => {
  expect(placeAt(number)).toMatchObject({ path, key });
});

test('on a blank line the column says where', () => {
  expect(placeAt(18, 14).path).toEqual(['spec', 'template', 'spec', 'containers', 0, 'env', 0, 'valueFrom']);
});

test('keys of the same map are known', () => {
  expect(placeAt(14).siblings).toEqual(['containerPort']);
  expect(placeAt(11).siblings).toEqual(['name']);
  expect(placeAt(7).siblings).toEqual(['replicas']);
});

test('a value is what stands after the colon', () => {
  expect(placeAt(6).value).toBe('1');
  expect(placeAt(5).value).toBe('');
  expect(placeAt(14).value).toBeUndefined();
});
