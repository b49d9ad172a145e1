/** `plat kustomize DIR`, and -k of other commands: the objects of a directory with a kustomization. */
import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bool, choice, type Flag, FlagError, type FlagValues, list, text } from '@plat-dev/lib/flags';
import { domainName, kubernetes } from '@plat-dev/meta/identity';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { command, type IO } from './command.ts';
import { build } from './kustomize/build.ts';
import { isClusterScoped, legacyOrder } from './kustomize/ids.ts';
import { Loader, type LoadRestriction } from './kustomize/loader.ts';
import type { Resource } from './kustomize/resource.ts';
import type { Manifest } from './objects/manifest.ts';

/**
 * The objects that -k names, in the order of the files, as manifests. Throws KustomizeError.
 *
 *   const manifests = await kustomize(options.kustomize, io);
 */
export async function kustomize(directory: string, io: Pick<IO, 'cwd' | 'env'>): Promise<Manifest[]> {
  return (await resourcesOf(directory, io, 'LoadRestrictionsRootOnly')).map(({ object, name, namespace }) => ({
    object: object as Manifest['object'],
    name,
    namespace: namespace === '' ? undefined : namespace,
    source: directory,
    origin: directory,
  }));
}
async function resourcesOf(directory: string, io: Pick<IO, 'cwd' | 'env'>, restriction: LoadRestriction): Promise<Resource[]> {
  const loader = await Loader.at(directory, io.cwd, restriction);
  // The schemas of all kinds are loaded for patches only.
  let schemas: Promise<typeof import('./discovery/kind-schemas.ts')> | undefined;
  const schemaModule = () => {
    schemas ??= import('./discovery/kind-schemas.ts');
    return schemas;
  };
  return build(loader, { env: io.env, schemaOf: async (apiVersion, kind) => (await schemaModule()).schemaOfKind(apiVersion, kind) });
}

/** A flag of the stock tool for what is not there. */
const refused = (flag: Flag<unknown>, why: string): Flag<unknown> => ({
  ...flag,
  help: `Not supported: ${why}.`,
  read: (values) => {
    if (values.every((value) => value === 'false')) return flag.default;
    throw new Error(`not supported: ${why}`);
  },
});
const noPlugins = 'transformers and generators that are programs are not run';
const noHelm = 'charts are not rendered; run `helm template` and name its output in resources';

const kustomizeFlags = {
  Building: {
    'load-restrictor': choice(
      'LoadRestrictionsRootOnly',
      ['LoadRestrictionsRootOnly', 'LoadRestrictionsNone'],
      'Whether kustomizations may read files outside of their directory.',
    ),
    reorder: choice('legacy', ['legacy', 'none'], 'Order of the objects: what others need first, or that of the files.'),
    'enable-managedby-label': bool(false, 'Add the label managed-by to all objects.'),
    'enable-alpha-plugins': refused(bool(false, ''), noPlugins),
    env: refused(list([], '', { short: 'e' }), noPlugins),
    mount: refused(list([], ''), noPlugins),
    network: refused(bool(false, ''), noPlugins),
    'network-name': refused(text('bridge', ''), noPlugins),
    'as-current-user': refused(bool(false, ''), noPlugins),
    'enable-helm': refused(bool(false, ''), noHelm),
    'helm-command': refused(text('helm', ''), noHelm),
  },
  Printing: {
    output: text('', 'Write to this file, or one file for each object to this directory.', { short: 'o', value: 'FILE|DIR' }),
  },
};
type KustomizeOptions = FlagValues<typeof kustomizeFlags>;

export const kustomizeCommand = command({
  usage: '[DIR] [flags]',
  summary: 'Print the objects of a kustomization: plat kustomize overlays/test',
  flags: kustomizeFlags,
  more: `
Examples:
  plat kustomize                                  the kustomization of this directory
  plat kustomize overlays/test -o test.yaml       into a file
  plat apply -k overlays/test                     to a server

Supported fields: resources, bases, components, namePrefix, nameSuffix, namespace, commonLabels, labels, commonAnnotations, patches,
patchesStrategicMerge, patchesJson6902, images, replicas, configMapGenerator, secretGenerator, generatorOptions, replacements,
vars, configurations. Others and remote resources are refused.
`,
  async run({ options, args }, io) {
    if (args.length > 1) throw new FlagError('specify one path to a directory with a kustomization');
    const resources = await resourcesOf(args[0] ?? '.', io, options.loadRestrictor as LoadRestriction);
    if (options.reorder === 'legacy') resources.sort((a, b) => legacyOrder(a.id, b.id));
    if (options.enableManagedbyLabel)
      for (const one of resources) one.setTexts('labels', { ...one.texts('labels'), [managedBy]: 'kustomize' });
    await print(resources, options, io);
    return 0;
  },
});
const managedBy = domainName(kubernetes, 'managed-by', 'app');

async function print(resources: readonly Resource[], { output }: KustomizeOptions, io: IO): Promise<void> {
  const text = (one: Resource): string => stringifyYaml(one.object);
  if (output === '') return io.out(resources.map(text).join('---\n'));
  const path = resolve(io.cwd, output);
  if (!(await stat(path).catch(() => undefined))?.isDirectory()) return writeFile(path, resources.map(text).join('---\n'));
  const namespaces = new Set(resources.filter((one) => !isClusterScoped(one.id)).map((one) => one.namespace));
  for (const one of resources) {
    const { group, version, kind, name, namespace } = one.id;
    const prefix = namespaces.size > 1 && !isClusterScoped(one.id) ? [namespace || 'default'] : [];
    const file = [...prefix, group, version, kind, name].filter((part) => part !== '').join('_');
    await writeFile(join(path, `${file.toLowerCase()}.yaml`), text(one));
  }
}
