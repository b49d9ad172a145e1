/** The paths of every resource, its subresources and the documents of discovery, from the catalogue. */

import type { ActionSubresource, Subresource } from '@plat-dev/kinds/kind';
import { schemaOf } from '@plat-dev/kinds/schemas';
import type { ApiRelease } from '@plat-dev/lib/version';
import { baseGroup, type Identity } from '@plat-dev/meta/identity';
import type { Resource } from '../../registry/catalog.ts';
import type { ServedVersion } from '../groups.ts';
import type { Names } from './definition-names.ts';
import type { Describe, GroupVersionKind, Method, Operation, Parameter, PathItem } from './model.ts';
import {
  deleteCollectionParameters,
  deleteParameters,
  getHistoryParameters,
  historyParameters,
  listParameters,
  nameParameter,
  namespaceParameter,
  optionParameters,
  patchParameters,
  prettyParameter,
  proxyPath,
  writeParameters,
} from './parameters.ts';

export interface PathOptions {
  readonly identity: Identity;
  readonly names: Names;
  readonly describe: Describe;
  /** The server validates fields of requests without `fieldValidation`, too. */
  readonly validatesFields: boolean;
  readonly history: boolean;
  /** Of the API. */
  readonly release: ApiRelease;
}

const proxyMethods: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const camel = (group: string): string =>
  group
    .split(/[.-]/)
    .map((word, i) => (i === 0 ? word : capital(word)))
    .join('');

/** `core`, `apps`, `rbacAuthorization`; the whole name for custom groups. */
function groupWord(identity: Identity, group: string): string {
  return group === '' ? 'core' : camel(baseGroup(identity, group) ?? group);
}

/** Paths of the documents of discovery. */
export function discoveryPaths(options: PathOptions, what: 'api' | 'apis' | 'version' | { group: string; version?: string }): PathItem[] {
  const { identity, names } = options;
  const produces = ['application/json', 'application/yaml', identity.protobufMediaType];
  const one = (path: string, id: string, tag: string, answer: string, description: string, types = produces): PathItem[] => [
    {
      path,
      parameters: [],
      operations: [
        { method: 'get', id, description, tag, produces: types, consumes: types, parameters: [], codes: ['200'], answer: names.of(answer) },
      ],
    },
  ];
  if (what === 'api') return one('/api/', 'getCoreAPIVersions', 'core', 'meta.v1.APIVersions', 'get available API versions');
  if (what === 'apis') return one('/apis/', 'getAPIVersions', 'apis', 'meta.v1.APIGroupList', 'get available API versions');
  if (what === 'version')
    return one('/version/', 'getCodeVersion', 'version', 'version.Info', 'get the code version', ['application/json']);
  const word = groupWord(identity, what.group);
  if (what.version === undefined)
    return one(`/apis/${what.group}/`, `get${capital(word)}APIGroup`, word, 'meta.v1.APIGroup', 'get information of a group');
  const path = what.group === '' ? `/api/${what.version}/` : `/apis/${what.group}/${what.version}/`;
  const id = `get${capital(word)}${capital(what.version)}APIResources`;
  return one(path, id, `${word}_${what.version}`, 'meta.v1.APIResourceList', 'get available resources');
}

/** All paths of the resources of a group version. */
export function resourcePaths(options: PathOptions, version: ServedVersion): PathItem[] {
  return version.resources.flatMap((resource) => new ResourcePaths(options, version, resource).all());
}

class ResourcePaths {
  private readonly options: PathOptions;
  private readonly version: ServedVersion;
  private readonly resource: Resource;
  private readonly word: string;
  private readonly tag: string;
  private readonly produces: readonly string[];
  private readonly own: GroupVersionKind;
  private readonly definition: string;
  private readonly pretty: Parameter;

  constructor(options: PathOptions, version: ServedVersion, resource: Resource) {
    this.options = options;
    this.version = version;
    this.resource = resource;
    const word = groupWord(options.identity, resource.group);
    this.word = capital(word) + capital(resource.version);
    this.tag = `${word}_${resource.version}`;
    this.produces = ['application/json', 'application/yaml', ...(resource.custom ? [] : [options.identity.protobufMediaType])];
    this.own = { group: resource.group, kind: resource.kind.kind, version: resource.version };
    this.definition = options.names.ofResource(resource);
    this.pretty = prettyParameter(options.release);
  }

  all(): PathItem[] {
    const { kind } = this.resource;
    const scoped = kind.namespaced ? `${this.version.path}/namespaces/{namespace}/${kind.plural}` : `${this.version.path}/${kind.plural}`;
    const scope = kind.namespaced ? [namespaceParameter] : [];
    const item = [nameParameter(kind.kind), ...scope, this.pretty];
    const paths = [
      { path: scoped, parameters: [...scope, this.pretty], operations: this.collection() },
      { path: `${scoped}/{name}`, parameters: item, operations: this.item() },
      ...Object.entries(kind.subresources).flatMap(([name, sub]) => this.subresource(`${scoped}/{name}/${name}`, name, sub, item)),
      ...this.everywhere(),
      ...this.oldWatches(),
    ];
    return paths.filter(({ operations }) => operations.length > 0);
  }

  private has(verb: string): boolean {
    return (this.resource.kind.verbs as readonly string[]).includes(verb);
  }
  private get hasHistory(): boolean {
    return this.options.history && !this.resource.kind.virtual;
  }
  private get listParameters(): readonly Parameter[] {
    return this.hasHistory ? [...listParameters, ...historyParameters] : listParameters;
  }
  /** `readCoreV1NamespacedPod` */
  private id(verb: string, after = '', prefix = ''): string {
    const { kind } = this.resource;
    return `${verb}${this.word}${prefix}${kind.namespaced ? 'Namespaced' : ''}${kind.kind}${after}`;
  }
  private operation(method: Method, id: string, description: string, action: string, more: Partial<Operation> = {}): Operation {
    const base = { method, id, description, action, tag: this.tag, kind: this.own, produces: this.produces, parameters: [] };
    return { ...base, codes: ['200'], answer: this.definition, ...more };
  }

  private collection(): Operation[] {
    const { kind } = this.resource;
    const operations: Operation[] = [];
    if (this.has('list')) operations.push(this.list(this.id('list'), this.listParameters));
    if (this.has('create')) operations.push(this.create(this.id('create'), `create ${article(kind.kind)}`, this.definition, this.own));
    if (this.has('deletecollection'))
      operations.push(
        this.operation('delete', this.id('delete', '', 'Collection'), `delete collection of ${kind.kind}`, 'deletecollection', {
          parameters: deleteCollectionParameters,
          body: this.options.names.of('meta.v1.DeleteOptions'),
          answer: this.options.names.of('meta.v1.Status'),
        }),
      );
    return operations;
  }

  private list(id: string, parameters: readonly Parameter[]): Operation {
    const streams = this.produces.filter((type) => type !== 'application/yaml').map((type) => `${type};stream=watch`);
    return this.operation('get', id, `list or watch objects of kind ${this.resource.kind.kind}`, 'list', {
      parameters,
      produces: this.has('watch') ? [...this.produces, ...streams] : this.produces,
      answer: this.options.names.ofList(this.resource),
    });
  }

  private create(id: string, description: string, body: string, kind: GroupVersionKind): Operation {
    return this.operation('post', id, description, 'post', {
      kind,
      parameters: writeParameters(this.options.validatesFields),
      body,
      bodyRequired: true,
      codes: ['200', '201', '202'],
      answer: body,
    });
  }

  private item(): Operation[] {
    const { kind } = this.resource;
    const operations: Operation[] = [];
    const parameters = this.hasHistory ? getHistoryParameters : [];
    if (this.has('get')) operations.push(this.operation('get', this.id('read'), `read the specified ${kind.kind}`, 'get', { parameters }));
    if (this.has('update')) operations.push(this.replace('', this.definition, this.own));
    if (this.has('patch')) operations.push(this.patch('', this.definition, this.own));
    if (this.has('delete'))
      operations.push(
        this.operation('delete', this.id('delete'), `delete ${article(kind.kind)}`, 'delete', {
          parameters: deleteParameters,
          body: this.options.names.of('meta.v1.DeleteOptions'),
          codes: ['200', '202'],
          answer: kind.deleteReturnsObject ? this.definition : this.options.names.of('meta.v1.Status'),
        }),
      );
    return operations;
  }

  private replace(sub: string, definition: string, kind: GroupVersionKind): Operation {
    const what = sub === '' ? '' : `${sub} of `;
    return this.operation('put', this.id('replace', capital(sub)), `replace ${what}the specified ${this.resource.kind.kind}`, 'put', {
      kind,
      parameters: writeParameters(this.options.validatesFields),
      body: definition,
      bodyRequired: true,
      codes: ['200', '201'],
      answer: definition,
    });
  }
  private patch(sub: string, definition: string, kind: GroupVersionKind): Operation {
    const what = sub === '' ? '' : `${sub} of `;
    const forms = ['application/json-patch+json', 'application/merge-patch+json'];
    if (!this.resource.custom) forms.push('application/strategic-merge-patch+json');
    return this.operation(
      'patch',
      this.id('patch', capital(sub)),
      `partially update ${what}the specified ${this.resource.kind.kind}`,
      'patch',
      {
        kind,
        consumes: [...forms, 'application/apply-patch+yaml'],
        parameters: patchParameters(this.options.validatesFields),
        body: this.options.names.of('meta.v1.Patch'),
        bodyRequired: true,
        codes: ['200', '201'],
        answer: definition,
      },
    );
  }

  private subresource(path: string, name: string, sub: Subresource, parameters: readonly Parameter[]): PathItem[] {
    const { names } = this.options;
    if (sub.type === 'action') return this.action(path, name, sub, parameters);
    const kind = sub.type === 'view' ? this.foreign(sub.kind) : this.own;
    const definition = sub.type === 'view' ? names.of(sub.schema.name) : this.definition;
    const verbs = sub.verbs as readonly string[];
    const operations: Operation[] = [];
    if (verbs.includes('get'))
      operations.push(
        this.operation('get', this.id('read', capital(name)), `read ${name} of the specified ${this.resource.kind.kind}`, 'get', {
          kind,
          answer: definition,
        }),
      );
    if (verbs.includes('update')) operations.push(this.replace(name, definition, kind));
    if (verbs.includes('patch')) operations.push(this.patch(name, definition, kind));
    return [{ path, parameters, operations }];
  }

  private action(path: string, name: string, sub: ActionSubresource, parameters: readonly Parameter[]): PathItem[] {
    const kind = this.foreign(sub.kind);
    if (sub.schema !== undefined) {
      const definition = this.options.names.of(sub.schema.name);
      const description = `create ${name} of ${article(this.resource.kind.kind)}`;
      return [{ path, parameters, operations: [this.create(this.id('create', capital(name)), description, definition, kind)] }];
    }
    const optionsKind = sub.kind.kind.endsWith('Options') ? sub.kind.kind : `${sub.kind.kind}${capital(name)}Options`;
    const schema = schemaOf(sub.kind.group, sub.kind.version, optionsKind, this.options.identity, this.options.release);
    const query = schema === undefined ? [] : optionParameters(schema, this.options.describe);
    if (!sub.kind.kind.endsWith('Options')) {
      // Text rather than an object: the log of a pod.
      const description = `read ${name} of the specified ${this.resource.kind.kind}`;
      const read = this.operation('get', this.id('read', capital(name)), description, 'get', {
        produces: ['text/plain', ...this.produces],
        answer: undefined,
      });
      return [{ path, parameters: [...parameters, ...query], operations: [read] }];
    }
    const proxied = name === 'proxy';
    const methods: readonly Method[] = proxied ? proxyMethods : ['get', 'post'];
    const connect = (after: string): Operation[] =>
      methods.map((method) =>
        this.operation(
          method,
          this.id('connect', after, capital(method)),
          `connect ${method.toUpperCase()} requests to ${name} of ${this.resource.kind.kind}`,
          'connect',
          {
            kind,
            produces: ['*/*'],
            answer: undefined,
          },
        ),
      );
    const scope = parameters.filter((parameter) => parameter !== this.pretty);
    const items = [{ path, parameters: [...scope, ...query], operations: connect(capital(name)) }];
    if (proxied)
      items.push({
        path: `${path}/{path}`,
        parameters: [...scope, proxyPath(), ...query],
        operations: connect(`${capital(name)}WithPath`),
      });
    return items;
  }

  private foreign(kind: { group: string; version: string; kind: string }): GroupVersionKind {
    return { group: this.options.names.groupName(kind.group), kind: kind.kind, version: kind.version };
  }

  /** Lists over all namespaces. */
  private everywhere(): PathItem[] {
    const { kind } = this.resource;
    if (!kind.namespaced || !this.has('list')) return [];
    const list = this.list(`list${this.word}${kind.kind}ForAllNamespaces`, []);
    return [{ path: `${this.version.path}/${kind.plural}`, parameters: [...this.listParameters, this.pretty], operations: [list] }];
  }

  /** The way to watch before there was a parameter for it. Custom kinds never had it. */
  private oldWatches(): PathItem[] {
    const { kind, custom } = this.resource;
    if (custom || !this.has('watch')) return [];
    const root = `${this.version.path}/watch`;
    const watch = (id: string, action: string): Operation => ({
      ...this.list(id, []),
      description: `watch ${action === 'watch' ? 'changes to an object' : 'individual changes to a list'} of ${kind.kind}; deprecated: list with the watch parameter instead`,
      action,
      answer: this.options.names.of('meta.v1.WatchEvent'),
    });
    const parameters = [...listParameters, this.pretty];
    if (!kind.namespaced)
      return [
        { path: `${root}/${kind.plural}`, parameters, operations: [watch(`watch${this.word}${kind.kind}List`, 'watchlist')] },
        {
          path: `${root}/${kind.plural}/{name}`,
          parameters: [...parameters, nameParameter(kind.kind)],
          operations: [watch(this.id('watch'), 'watch')],
        },
      ];
    const scoped = `${root}/namespaces/{namespace}/${kind.plural}`;
    const within = [...parameters, namespaceParameter];
    return [
      { path: `${root}/${kind.plural}`, parameters, operations: [watch(`watch${this.word}${kind.kind}ListForAllNamespaces`, 'watchlist')] },
      { path: scoped, parameters: within, operations: [watch(this.id('watch', 'List'), 'watchlist')] },
      { path: `${scoped}/{name}`, parameters: [...within, nameParameter(kind.kind)], operations: [watch(this.id('watch'), 'watch')] },
    ];
  }
}

const article = (kind: string): string => (/^[AEIO]/.test(kind) ? `an ${kind}` : `a ${kind}`);
