/** Objects that `plat create` makes from flags: one entry a kind. */
import { FlagError, type FlagTable, type FlagValues, text } from '../lib/flags.ts';
import type { JsonObject } from '../schema/types.ts';
import type { IO } from './command.ts';
import {
  accessGroup,
  bindingFlags,
  clusterRoleFlags,
  clusterRoleRules,
  roleFlags,
  roleRef,
  roleRules,
  subjectsOf,
} from './create-access.ts';
import { configMapData, dataFlags, readData, secretData } from './create-data.ts';
import type { Work } from './work.ts';

/** What a maker may need. */
export interface World {
  readonly io: IO;
  /** Connects to the server on first use. */
  work(): Work;
}
export interface Maker {
  /** The arguments that name the kind: `secret generic`. */
  readonly kindPath: readonly string[];
  readonly short: string | undefined;
  readonly example: string;
  readonly flags: FlagTable[string];
  /** Of the core group, which needs no discovery. */
  readonly core: boolean;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** All but kind, version and metadata. */
  make(options: Readonly<Record<string, unknown>>, world: World): Promise<JsonObject>;
}

type Facts = Omit<Maker, 'make' | 'flags'>;
function maker<F extends FlagTable[string]>(
  facts: Facts,
  flags: F,
  make: (options: FlagValues<{ Making: F }>, world: World) => Promise<JsonObject>,
): Maker {
  return { ...facts, flags, make: (options, world) => make(options as FlagValues<{ Making: F }>, world) };
}
const facts = (
  kindPath: string,
  short: string | undefined,
  kind: string,
  plural: string,
  more: Pick<Facts, 'example' | 'core' | 'namespaced'>,
): Facts => ({
  kindPath: kindPath.split(' '),
  short,
  kind,
  plural,
  ...more,
});

export const makers: readonly Maker[] = [
  maker(
    facts('clusterrole', undefined, 'ClusterRole', 'clusterroles', {
      example: 'plat create clusterrole reader --verb=get,list --resource=pods,deployments.apps',
      core: false,
      namespaced: false,
    }),
    clusterRoleFlags,
    (options, world) => clusterRoleRules(options, world.work()),
  ),
  maker(
    facts('clusterrolebinding', undefined, 'ClusterRoleBinding', 'clusterrolebindings', {
      example: 'plat create clusterrolebinding readers --clusterrole=reader --group=dev',
      core: false,
      namespaced: false,
    }),
    { clusterrole: text('', 'Cluster role to bind.', { value: 'NAME' }), ...bindingFlags },
    async (options, world) => {
      const group = await accessGroup(world.work());
      if (options.clusterrole === '') throw new FlagError('which role? For example: --clusterrole=view');
      return { roleRef: roleRef('', options.clusterrole, group), subjects: subjectsOf(options, group) };
    },
  ),
  maker(
    facts('configmap', 'cm', 'ConfigMap', 'configmaps', {
      example: 'plat create configmap web --from-literal=mode=fast --from-file=conf/',
      core: true,
      namespaced: true,
    }),
    dataFlags,
    async (options, { io }) => configMapData(await readData(options, io)),
  ),
  maker(
    facts('namespace', 'ns', 'Namespace', 'namespaces', { example: 'plat create namespace team-a', core: true, namespaced: false }),
    {},
    async () => ({}),
  ),
  maker(
    facts('role', undefined, 'Role', 'roles', {
      example: 'plat create role reader --verb=get --resource=pods',
      core: false,
      namespaced: true,
    }),
    roleFlags,
    async (options, world) => ({ rules: await roleRules(options, world.work()) }),
  ),
  maker(
    facts('rolebinding', undefined, 'RoleBinding', 'rolebindings', {
      example: 'plat create rolebinding readers --role=reader --serviceaccount=default:web',
      core: false,
      namespaced: true,
    }),
    {
      role: text('', 'Role of the namespace to bind.', { value: 'NAME' }),
      clusterrole: text('', 'Cluster role to bind.', { value: 'NAME' }),
      ...bindingFlags,
    },
    async (options, world) => {
      const group = await accessGroup(world.work());
      return { roleRef: roleRef(options.role, options.clusterrole, group), subjects: subjectsOf(options, group) };
    },
  ),
  maker(
    facts('secret generic', undefined, 'Secret', 'secrets', {
      example: 'plat create secret generic login --from-literal=password=x',
      core: true,
      namespaced: true,
    }),
    { type: text('', 'Type of the secret.', { value: 'TYPE', defaultText: 'Opaque' }), ...dataFlags },
    async ({ type, ...options }, { io }) => ({ ...secretData(await readData(options, io)), ...(type !== '' && { type }) }),
  ),
  maker(
    facts('serviceaccount', 'sa', 'ServiceAccount', 'serviceaccounts', {
      example: 'plat create serviceaccount web',
      core: true,
      namespaced: true,
    }),
    {},
    async () => ({}),
  ),
];
