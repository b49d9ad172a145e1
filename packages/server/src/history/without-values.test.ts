import type { ApiObject } from '@plat-dev/kinds/kind';
import { expect, test } from 'vitest';
import { withoutValues } from './without-values.ts';

test('names of keys and annotations stay, values go; what is too long is left out, annotations first', () => {
  const metadata = { name: 'db', labels: { app: 'db' }, annotations: { copy: '{"data":{"password":"hunter2"}}' } };
  const outline = { metadata: { ...metadata, annotations: { copy: '' } }, type: 'Opaque', data: { password: '' } };
  expect(withoutValues({ metadata, type: 'Opaque', data: { password: 'aHVudGVyMg==' } } as ApiObject)).toEqual(outline);
  const annotations = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`annotation-${i}`, '']));
  const { annotations: _, ...fewer } = metadata;
  expect(withoutValues({ metadata: { ...metadata, annotations }, data: { password: 'x' } } as ApiObject)).toEqual({
    metadata: fewer,
    data: { password: '' },
  });
  expect(withoutValues({ metadata: { name: 'x'.repeat(20_000) } } as ApiObject)).toEqual({});
});

test('of an object with very many keys only as many are looked at as an outline can hold', () => {
  let looks = 0;
  const data = new Proxy(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-number-${i}`, 'eA=='])), {
    getOwnPropertyDescriptor: (target, name) => {
      looks++;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  expect(withoutValues({ metadata: { name: 'db' }, data } as ApiObject)).toEqual({ metadata: { name: 'db' } });
  // Three times: with annotations, without them, and without other metadata.
  expect(looks).toBeLessThan(4000);
});
