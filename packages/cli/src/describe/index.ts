/** `plat describe`: a page about each object, with its events and what belongs to it. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, FlagError, type FlagValues, int, text } from '@plat-dev/lib/flags';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { targetsOf } from '../get/arguments.ts';
import { withNameHint } from '../get/hints.ts';
import { namesManifests } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { findTargets } from '../objects/targets.ts';
import { paintFor } from '../output/colours.ts';
import { page as showPage } from '../output/pager.ts';
import { errorLine, isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { colourPage } from './colour-page.ts';
import { type Json, Pages } from './pages.ts';

const table = {
  Selecting: {
    namespace: namespaceFlag,
    ...fileFlags,
    selector: text('', 'Label selector: app=web,tier!=test.', { short: 'l', value: 'QUERY' }),
    'all-namespaces': bool(false, 'Describe objects of all namespaces.', { short: 'A' }),
  },
  Showing: {
    'show-events': bool(true, 'Show the events of each object.'),
    'chunk-size': int(500, 'Read lists in pages of this many objects; 0 reads them whole.', { min: 0 }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

/** Objects whose pages are made at the same time. */
const AT_ONCE = 8;

export const describe = command({
  usage: 'TYPE [NAME_PREFIX] | TYPE/NAME… | -f FILE | -k DIR [flags]',
  summary: 'Show details of objects, with their events and what belongs to them.',
  flags: table,
  more: `
Without a name all objects of the type are described. If there is no object of that name, those whose names begin with it are.

Examples:
  plat describe pod web                     one pod, or those whose names begin with web
  plat describe deployment/web service/web  two objects of different types
  plat describe pods -l app=web -A          pods by label in all namespaces
  plat describe -f web.yaml                 the objects of a file, as the server has them
`,
  async run({ options, args }, io) {
    check(options, args, io);
    return withServer(options, io, (work) => new Description(work, options, args).run());
  },
});

function check(options: Options, args: readonly string[], io: IO): void {
  const { filename, kustomize, selector, allNamespaces } = options;
  if (namesManifests(options)) {
    if (filename.length > 0 && kustomize !== '') throw new FlagError('only one of -f or -k can be specified');
    if (args.length > 0) throw new FlagError(`-f or -k and ${JSON.stringify(args[0])} exclude each other: the files name the objects`);
    if (selector !== '' || allNamespaces) throw new FlagError('-f or -k and -l or -A exclude each other: the files name the objects');
    return;
  }
  if (args.length === 0 && isStock(io))
    throw new FlagError(
      'You must specify the type of resource to describe. Use "kubectl api-resources" for a complete list of supported resources.',
    );
  const hasNames = targetsOf(args, 'plat describe pods, plat describe node/one, plat describe -f web.yaml').some(
    ({ names }) => names.length > 0,
  );
  if (hasNames && selector !== '') throw new FlagError('a name and --selector exclude each other');
  if (hasNames && allNamespaces) throw new FlagError('an object cannot be named in all namespaces: choose one with -n');
}

interface FoundObject {
  readonly resource: ApiResource;
  readonly object: Json;
}

class Description {
  private readonly work: Work;
  private readonly options: Options;
  private readonly args: readonly string[];
  /** Lines about failures, each once. */
  private readonly failures = new Set<string>();

  constructor(work: Work, options: Options, args: readonly string[]) {
    this.work = work;
    this.options = options;
    this.args = args;
  }
  async run(): Promise<number> {
    const { io } = this.work;
    const { objects, byPrefix } = await this.find();
    const pages = await this.pages(objects);
    // Pages go on without what they cannot read; those of an interrupted command are not shown.
    this.work.signal.throwIfAborted();
    if (pages.length > 0)
      await showPage(io, colourPage(byPrefix ? pages.map((page) => `${page}\n`).join('') : pages.join('\n\n'), paintFor(io)));
    else if (this.failures.size === 0 && !this.work.hasLeftOut)
      io.err(this.options.allNamespaces ? 'No resources found\n' : `No resources found in ${this.work.namespace} namespace.\n`);
    for (const line of this.failures) io.err(line);
    return this.failures.size === 0 ? 0 : 1;
  }
  private failed(error: unknown): void {
    if (!(error instanceof Error) || error.name === 'AbortError' || error.name === 'TransportError') throw error;
    this.failures.add(errorLine(error, this.work.io));
  }
  private async pages(objects: readonly FoundObject[]): Promise<string[]> {
    if (objects.length === 0) return [];
    const pages = await Pages.of(this.work, this.options);
    const texts: string[] = [];
    for (let i = 0; i < objects.length; i += AT_ONCE) {
      const some = objects.slice(i, i + AT_ONCE).map(({ resource, object }) => pages.text(resource, object));
      for (const result of await Promise.allSettled(some)) {
        if (result.status === 'fulfilled') texts.push(result.value);
        else this.failed(result.reason);
      }
    }
    return texts;
  }

  // ---- objects ---------------------------------------------------------------------------------------------------

  private async find(): Promise<{ objects: FoundObject[]; byPrefix: boolean }> {
    const objects: FoundObject[] = [];
    for (const target of await this.targets()) {
      if (target.name === undefined) {
        objects.push(...(await this.list(target.resource, this.options.selector)));
        continue;
      }
      const { resource, namespace, name } = target;
      try {
        objects.push({ resource, object: await this.work.get<Json>({ resource, namespace, name }) });
      } catch (error) {
        const matching = await this.beginningWith(target.resource, name, error);
        if (matching !== undefined) return { objects: matching, byPrefix: true };
        this.failed(error instanceof ApiError ? await withNameHint(this.work, error, resource, namespace) : error);
      }
    }
    return { objects, byPrefix: false };
  }
  private async targets(): Promise<(ObjectRef | { resource: ApiResource; name: undefined })[]> {
    const { work, options, args } = this;
    if (namesManifests(options)) return findTargets(work, args, { ...options, asList: true });
    const targets: (ObjectRef | { resource: ApiResource; name: undefined })[] = [];
    for (const { type, names } of targetsOf(args, '')) {
      for (const resource of await work.discovery.findAll(type)) {
        if (names.length === 0) targets.push({ resource, name: undefined });
        for (const name of names) targets.push({ resource, namespace: resource.namespaced ? work.namespace : undefined, name });
      }
    }
    return targets;
  }
  /** `describe pods web`: where there is no such object, those whose names begin with it; undefined if there are none. */
  private async beginningWith(resource: ApiResource, prefix: string, error: unknown): Promise<FoundObject[] | undefined> {
    const [type = '', name] = this.args;
    if (!(error instanceof ApiError) || error.code !== 404 || this.args.length !== 2 || name !== prefix || type.includes(','))
      return undefined;
    const matching = (await this.list(resource, '')).filter(({ object }) => object.metadata.name?.startsWith(prefix));
    return matching.length === 0 ? undefined : matching;
  }
  private async list(resource: ApiResource, labelSelector: string): Promise<FoundObject[]> {
    const { chunkSize, allNamespaces } = this.options;
    const namespace = resource.namespaced && !allNamespaces ? this.work.namespace : undefined;
    const objects: FoundObject[] = [];
    let next: string | undefined;
    do {
      const { object: page } = await this.work.sendTo<{ metadata?: { continue?: string }; items?: Json[] | null }>(resource, namespace, {
        method: 'GET',
        query: { limit: chunkSize === 0 ? undefined : chunkSize, continue: next, labelSelector },
      });
      for (const item of page.items ?? [])
        objects.push({ resource, object: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item } });
      next = page.metadata?.continue;
    } while (next);
    return objects;
  }
}
