// The loads that benches share, and the objects they need.
import { configMap, lamp, lampDefinition, pod } from './objects.mjs';
import { call, inParallel, must, writing } from './tools.mjs';

export const ns = '/api/v1/namespaces/bench';
const lamps = '/apis/bench.example.com/v1/namespaces/bench/lamps';
const json = 'application/json';
const table = 'wrk.headers["Accept"] = "application/json;as=Table;g=meta.k8s.io;v=v1"';
const updated = { ...configMap('@NAME@'), data: { n: '@N@' } };

/** name → [path, Lua, which bare figure it is held against] */
export const loads = {
  get: [`${ns}/pods/p7`, '', 'small'],
  'get from cache': [`${ns}/pods/p7?resourceVersion=0`, '', 'small'],
  list500: [`${ns}/pods`, '', 'large'],
  'list by label': [`${ns}/pods?labelSelector=index%3Dp42`, '', 'small'],
  table500: [`${ns}/pods`, table, 'large'],
  create: ['/', writing('POST', `${ns}/configmaps`, json, configMap('@NAME@'), '"c"..id.."-"..n'), 'small'],
  replace: ['/', writing('PUT', `${ns}/configmaps/@NAME@`, json, updated, '"u"..(n % 64)'), 'small'],
  'merge patch': [
    '/',
    writing('PATCH', `${ns}/configmaps/@NAME@`, 'application/merge-patch+json', { data: { p: '@N@' } }, '"u"..(n % 64)'),
    'small',
  ],
  apply: [
    '/',
    writing(
      'PATCH',
      `${ns}/configmaps/@NAME@?fieldManager=bench&force=true`,
      'application/apply-patch+yaml',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '@NAME@' }, data: { p: '@N@' } },
      '"a"..(n % 64)',
    ),
    'small',
  ],
  'get custom': [`${lamps}/one`, '', 'small'],
  'create custom': ['/', writing('POST', lamps, json, lamp('@NAME@'), '"c"..id.."-"..n'), 'small'],
  'create pod': ['/', writing('POST', `${ns}/pods`, json, pod('@NAME@'), '"q"..id.."-"..n'), 'small'],
};

/** Makes what the loads read and change. */
export async function fill(address) {
  await must(address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  for (let i = 0; i < 50; i++) {
    if ((await call(address, 'GET', `${ns}/serviceaccounts/default`)).status === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await must(address, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', lampDefinition);
  while ((await call(address, 'GET', lamps)).status !== 200);
  await must(address, 'POST', lamps, lamp('one'));
  await inParallel(500, 16, (i) => must(address, 'POST', `${ns}/pods`, pod(`p${i}`)));
  await inParallel(64, 16, (i) => must(address, 'POST', `${ns}/configmaps`, configMap(`u${i}`)));
}
