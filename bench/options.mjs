// The options of `npm run bench`, read and checked before anything is started.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const STORES = ['lmdb', 'memory', 'etcd'];
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** What `--only` chooses from in addition to loads. */
const OTHERS = ['watch', 'restart'];

/** By name, how the value of an option is read; null: an option without one. */
const readers = {
  seconds: count,
  requests: count,
  rounds: count,
  connections: count,
  pods: count,
  growth: count,
  only: names,
  stores: names,
  against: String,
  token: String,
  kubeconfig: String,
  name: String,
  profile: String,
  write: null,
  'no-build': null,
};
/** Options whose value may be left out, and the value that they then have. */
const implied = { growth: 50_000 };

/** The options in `argv`; `known` are the names of loads. An error says which option is wrong, and why. */
export function benchOptions(argv, known) {
  const given = readAll(argv);
  const stores = given.stores ?? ['lmdb'];
  for (const store of stores)
    if (!STORES.includes(store)) throw new Error(`--stores: there is no store ${store}; choose from ${STORES.join(', ')}`);
  for (const load of given.only ?? [])
    if (![...known, ...OTHERS].includes(load))
      throw new Error(`--only: there is no load ${load}; choose from ${[...known, ...OTHERS].join(', ')}`);
  if (given.seconds !== undefined && given.requests !== undefined) throw new Error('--seconds and --requests exclude each other');
  if (given.pods !== undefined && given.pods < 43) throw new Error('--pods: the loads read pods p7 and p42, so there are 43 at least');
  const against = given.against === undefined ? undefined : otherServer(given);
  for (const option of ['token', 'kubeconfig', 'name'])
    if (against === undefined && given[option] !== undefined) throw new Error(`--${option} belongs to --against, which is missing`);
  return {
    seconds: given.seconds ?? 5,
    requests: given.requests,
    // Two servers are compared by medians; one alone by its ratio to the bare server.
    rounds: given.rounds ?? (stores.length > 1 || against !== undefined ? 3 : 1),
    connections: given.connections ?? 32,
    pods: given.pods ?? 500,
    growth: given.growth,
    only: given.only,
    stores,
    against,
    write: given.write === true,
    build: given['no-build'] !== true,
  };
}

function readAll(argv) {
  const given = {};
  for (let at = 0; at < argv.length; at++) {
    const name = argv[at].startsWith('--') ? argv[at].slice(2) : undefined;
    if (name === undefined || !Object.hasOwn(readers, name)) throw new Error(`unknown option ${argv[at]}`);
    const read = readers[name];
    const value = argv[at + 1];
    if (read === null) given[name] = true;
    else if (value !== undefined && !value.startsWith('--')) {
      given[name] = read(value, name);
      at++;
    } else if (Object.hasOwn(implied, name)) given[name] = implied[name];
    else throw new Error(`--${name} needs a value`);
  }
  return given;
}

function count(value, name) {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} ${value}: not a whole number above 0`);
  return number;
}
function names(value) {
  return value.split(',').filter((name) => name !== '');
}

/** `URL,PID[,PID]`: the address of a server on this machine, its process and those of its store. */
function otherServer({ against, token, kubeconfig, name = 'other' }) {
  const [address, ...ids] = against.split(',');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:') throw new Error(`--against ${address}: not an https URL`);
  if (!LOOPBACK.includes(url.hostname)) throw new Error(`--against ${address}: only servers on this machine (${LOOPBACK.join(', ')})`);
  if (ids.length === 0) throw new Error('--against URL,PID[,PID]: give the process of the server, and those of its store');
  const pids = ids.map((id) => count(id, 'against'));
  if ((token === undefined) === (kubeconfig === undefined)) throw new Error('--against needs one of --token and --kubeconfig');
  return { name, address: url.origin, pids, token: token ?? tokenOf(kubeconfig) };
}

/** The token of the current user of a kubeconfig. The load generator presents no client certificates. */
export function tokenOf(file) {
  const config = parse(readFileSync(file, 'utf8'));
  const context = config?.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const user = config?.users?.find(({ name }) => name === context?.user)?.user;
  if (user === undefined) throw new Error(`--kubeconfig ${file}: the current context has no user`);
  if (user.token !== undefined) return user.token;
  if (user.tokenFile !== undefined) return readFileSync(user.tokenFile, 'utf8').trim();
  throw new Error(`--kubeconfig ${file}: the user of the current context has no token, and wrk presents no certificates; create a token`);
}
