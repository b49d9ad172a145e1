// The loads that benches share, and the objects they need.
import { configMap, lamp, lampDefinition, pod } from './objects.mjs';
import { call, inParallel, must, writing } from './tools.mjs';

const json = 'application/json';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Paths that the loads use in a namespace. */
const pathsIn = (namespace) => ({
  ns: `/api/v1/namespaces/${namespace}`,
  lamps: `/apis/bench.example.com/v1/namespaces/${namespace}/lamps`,
});

/** name → path, Lua for wrk, which bare figure it is compared with, and the request of that number for loads by count. */
export function loadsIn(namespace) {
  const { ns, lamps } = pathsIn(namespace);
  const updated = { ...configMap('@NAME@'), data: { n: '@N@' } };
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '@NAME@' }, data: { p: '@N@' } };
  return {
    get: read(`${ns}/pods/p7`, 'small'),
    'get from cache': read(`${ns}/pods/p7?resourceVersion=0`, 'small'),
    list500: read(`${ns}/pods`, 'large'),
    'list by label': read(`${ns}/pods?labelSelector=index%3Dp42`, 'small'),
    table500: read(`${ns}/pods`, 'large', TABLE),
    create: write('POST', `${ns}/configmaps`, json, configMap('@NAME@'), 'c@ID@-@N@'),
    replace: write('PUT', `${ns}/configmaps/@NAME@`, json, updated, 'u@N64@'),
    'merge patch': write('PATCH', `${ns}/configmaps/@NAME@`, 'application/merge-patch+json', { data: { p: '@N@' } }, 'u@N64@'),
    apply: write('PATCH', `${ns}/configmaps/@NAME@?fieldManager=bench&force=true`, 'application/apply-patch+yaml', applied, 'a@N64@'),
    'get custom': read(`${lamps}/one`, 'small'),
    'create custom': write('POST', lamps, json, lamp('@NAME@'), 'c@ID@-@N@'),
    'create pod': write('POST', `${ns}/pods`, json, pod('@NAME@'), 'q@ID@-@N@'),
  };
}

function read(path, bare, accept) {
  const headers = accept === undefined ? {} : { accept };
  const script = accept === undefined ? '' : `wrk.headers["Accept"] = "${accept}"`;
  return { path, script, bare, request: () => ({ method: 'GET', path, headers }) };
}

/** `name` holds `@ID@` for a word that no other run has, `@N@` for the number of the request, `@N64@` for that number modulo 64. */
function write(method, path, type, body, name) {
  const lua = `"${name.replaceAll('@ID@', '"..id.."').replaceAll('@N@', '"..n.."').replaceAll('@N64@', '"..(n % 64).."')}"`;
  const text = JSON.stringify(body);
  return {
    path: '/',
    script: writing(method, path, type, body, lua),
    bare: 'small',
    request(n, id) {
      const own = name
        .replaceAll('@ID@', id)
        .replaceAll('@N@', n)
        .replaceAll('@N64@', n % 64);
      const data = JSON.parse(text.replaceAll('@NAME@', own).replaceAll('@N@', n));
      return { method, path: path.replaceAll('@NAME@', own), headers: { 'content-type': type }, body: data };
    },
  };
}

export const NAMESPACE = 'bench';
export const { ns } = pathsIn(NAMESPACE);
export const loads = loadsIn(NAMESPACE);

/** How often something is looked at until it is there, each 20 ms. */
const TRIES = 500;
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Makes what the loads read and change; answers what removes it. */
export async function fill(address, { namespace = NAMESPACE, token = undefined, pods = 500 } = {}) {
  const { ns, lamps } = pathsIn(namespace);
  const options = { ...(token !== undefined && { token }) };
  const post = (path, body) => must(address, 'POST', path, body, options);
  const statusOf = async (path) => (await call(address, 'GET', path, undefined, options)).status;
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  let definesLamps = false;
  const remove = async () => {
    // Not all is left to the controller of namespaces, which need not run.
    for (const path of [lamps, `${ns}/pods`, `${ns}/configmaps`, `${ns}/secrets`, ns])
      await call(address, 'DELETE', path, undefined, { ...options, keep: false });
    if (definesLamps) await call(address, 'DELETE', `${definitions}/${lampDefinition.metadata.name}`, undefined, options);
  };
  try {
    await fillNamespace();
  } catch (error) {
    await remove();
    throw error;
  }
  return { remove };

  async function fillNamespace() {
    // The controller that makes it is another program where the server is a stock one, and need not run.
    const account = `${ns}/serviceaccounts`;
    for (let i = 0; i < 50 && (await statusOf(`${account}/default`)) !== 200; i++) await pause();
    await call(address, 'POST', account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }, options);
    const defined = await call(address, 'POST', definitions, lampDefinition, options);
    definesLamps = defined.status < 300;
    if (!definesLamps && defined.status !== 409) throw new Error(`POST ${definitions}: ${defined.status} ${defined.body}`);
    for (let i = 0; i < TRIES && (await statusOf(lamps)) !== 200; i++) await pause();
    await post(lamps, lamp('one'));
    await inParallel(pods, 16, (i) => post(`${ns}/pods`, pod(`p${i}`)));
    await inParallel(64, 16, (i) => post(`${ns}/configmaps`, configMap(`u${i}`)));
  }
}
