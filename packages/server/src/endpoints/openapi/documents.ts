/**
 * The OpenAPI documents, made on the first request and cached until their kinds change. Making one is
 * cut into steps, so that other requests are served in between.
 */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { jsonText } from '@plat-dev/lib/json-text';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { notAcceptable } from '@plat-dev/meta/errors';
import { definitionPrefix, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject, MessageType } from '@plat-dev/schema/types';
import type { RemoteSpec } from '../../extension/aggregation/specs.ts';
import type { Resource } from '../../registry/catalog.ts';
import type { Groups, ServedVersion } from '../groups.ts';
import { binaryOfV3, binaryV2 } from './binary.ts';
import { Names } from './definition-names.ts';
import { Definitions, discoveryTypes } from './definitions.ts';
import { isSoundV3, mergedParts, soundParts } from './merge.ts';
import { type Describe, type PathItem, securityScheme } from './model.ts';
import { joined, mapIn, Part } from './parts.ts';
import { discoveryPaths, type PathOptions, resourcePaths } from './paths.ts';
import { SharedParameters } from './shared-parameters.ts';
import { type PathWriter, writerV2, writerV3 } from './write.ts';

const pack = promisify(gzip);
/** Definitions are written in pieces of this many, so that no piece takes long. */
const PIECE = 100;

/** One form of a document. */
export class Form {
  readonly bytes: Buffer;
  /** SHA-512 in capital hexadecimal digits. */
  readonly hash: string;
  private readonly make: (() => Promise<Buffer>) | undefined;
  private packed: Promise<Buffer> | undefined;
  private other: Promise<Form> | undefined;

  /** `make` makes the other, binary form. */
  constructor(bytes: Buffer, make?: () => Promise<Buffer>) {
    this.bytes = bytes;
    this.hash = createHash('sha512').update(bytes).digest('hex').toUpperCase();
    this.make = make;
  }
  compressed(): Promise<Buffer> {
    this.packed ??= pack(this.bytes);
    return this.packed;
  }
  binary(): Promise<Form> {
    this.other ??= this.make === undefined ? Promise.resolve(this) : this.make().then((bytes) => new Form(bytes));
    return this.other;
  }
}

export interface DocumentOptions {
  readonly identity: Identity;
  /** `v1.24.17+plat.0.1.0` */
  readonly version: string;
  readonly enums: boolean;
  readonly validatesFields: boolean;
  readonly history: boolean;
  readonly describe: Describe;
  /** Of the API. */
  readonly release: ApiRelease;
}

interface Piece {
  readonly resources: readonly Resource[];
  v2Paths?: Part;
  v3?: Promise<Form>;
}

export class Documents {
  private readonly options: PathOptions & DocumentOptions;
  private readonly groups: () => Groups;
  private readonly remote: () => readonly RemoteSpec[];
  private readonly definitions: Definitions;
  /** By the path of a group version. What built-in kinds came to stays, however often custom ones change. */
  private readonly pieces = new Map<string, Piece>();
  private builtin: { resources: readonly Resource[]; part: Part } | undefined;
  /** Definitions of custom kinds, which are other resources after every change of theirs. */
  private readonly custom = new WeakMap<Resource, Part>();
  private whole: { groups: Groups; remote: readonly RemoteSpec[]; form: Promise<Form> } | undefined;
  /** Releases from 1.28 on have them. */
  private readonly shared: SharedParameters | undefined;
  private readonly small = new Map<string, { groups: Groups; form: Form }>();

  /** `remote`: what servers behind this one say of themselves, the same list until that changes. */
  constructor(options: DocumentOptions, groups: () => Groups, remote: () => readonly RemoteSpec[] = () => []) {
    const names = new Names(options.identity);
    this.options = { ...options, names };
    this.groups = groups;
    this.remote = remote;
    this.definitions = new Definitions({ ...options, names });
    this.shared = isAtLeast(options.release, '1.28')
      ? new SharedParameters(`#/definitions/${definitionPrefix(options.identity, 'machinery')}.`)
      : undefined;
  }

  /** The document of the second release: everything in one. */
  v2(): Promise<Form> {
    const groups = this.groups();
    const remote = this.remote();
    if (this.whole?.groups !== groups || this.whole.remote !== remote) this.whole = { groups, remote, form: this.makeV2(groups, remote) };
    return this.whole.form;
  }

  /** Names of the documents of the third release: `api/v1`, `apis/apps`, `apis/apps/v1`. */
  v3Names(): string[] {
    const names = ['api', 'apis', 'version'];
    for (const { name, versions } of this.groups().all) {
      if (name !== '') names.push(`apis/${name}`);
      names.push(...versions.map((version) => version.path.slice(1)));
    }
    for (const { group, version, v3 } of this.remote()) if (v3 !== undefined) names.push(`apis/${group}/${version}`);
    return [...new Set(names)].sort();
  }

  /** Undefined where there is no such document. */
  v3(name: string): Promise<Form> | undefined {
    const groups = this.groups();
    if (name === 'api' || name === 'apis' || name === 'version') {
      return Promise.resolve(this.smallV3(name, groups, () => discoveryPaths(this.options, name), discoveryTypes[name]));
    }
    const [group, version, more] = partsOf(name);
    const elsewhere = more === undefined ? this.remote().find((spec) => spec.group === group && spec.version === version) : undefined;
    if (elsewhere !== undefined) return elsewhere.v3 === undefined ? undefined : remoteForm(elsewhere.v3);
    const servedGroup = group === undefined || more !== undefined ? undefined : groups.byName.get(group);
    if (group === undefined || servedGroup === undefined) return undefined;
    if (version === undefined)
      return Promise.resolve(this.smallV3(name, groups, () => discoveryPaths(this.options, { group }), discoveryTypes.group));
    const served = servedGroup.versions.find((v) => v.version === version);
    if (served === undefined) return undefined;
    const piece = this.pieceOf(served);
    piece.v3 ??= this.makeV3(served, groups);
    return piece.v3;
  }

  private pieceOf(version: ServedVersion): Piece {
    const cachedPiece = this.pieces.get(version.path);
    if (cachedPiece !== undefined && sameItems(cachedPiece.resources, version.resources)) return cachedPiece;
    const piece: Piece = { resources: version.resources };
    this.pieces.set(version.path, piece);
    return piece;
  }

  // ---- version 2 -----------------------------------------------------------------------------------------------

  private async makeV2(groups: Groups, remote: readonly RemoteSpec[]): Promise<Form> {
    const writer = writerV2(this.options.identity, this.shared);
    const discovery: PathItem[] = [];
    const paths: Part[] = [];
    for (const name of ['api', 'apis', 'version'] as const) discovery.push(...discoveryPaths(this.options, name));
    // Paths that lead to another server are described by that server.
    const elsewhere = new Set(remote.map(({ group, version }) => `/apis/${group}/${version}`));
    for (const group of groups.all) {
      if (group.name !== '') discovery.push(...discoveryPaths(this.options, { group: group.name }));
      for (const version of group.versions) {
        if (elsewhere.has(version.path)) continue;
        discovery.push(...discoveryPaths(this.options, version));
        const piece = this.pieceOf(version);
        piece.v2Paths ??= new Part('paths', await this.pathsV2(version, writer));
        paths.push(piece.v2Paths);
      }
    }
    this.forgetLost(groups);
    paths.unshift(new Part('paths', inner(writer.paths(discovery))));
    const definitions = await this.definitionsV2(groups);
    if (remote.length > 0) {
      const more = await remoteV2(definitions, remote);
      paths.push(more.paths);
      definitions.push(more.definitions);
    }
    return this.formV2(paths, definitions);
  }

  private async formV2(paths: readonly Part[], definitions: readonly Part[]): Promise<Form> {
    const { identity, version } = this.options;
    const head = { swagger: '2.0', info: { title: titleOf(identity), version } };
    const tail = { securityDefinitions: { BearerToken: { ...securityScheme } }, security: [{ BearerToken: [] }] };
    await nextTurn();
    const parameters = this.shared && new Part('parameters', inner(Object.fromEntries(this.shared.parameters)));
    const bytes = Buffer.concat([
      Buffer.from(`{${inner(head)},"paths":{`),
      ...joined(paths),
      Buffer.from('},"definitions":{'),
      ...joined(definitions),
      ...(parameters === undefined ? [] : [Buffer.from('},"parameters":{'), parameters.bytes]),
      Buffer.from(`},${inner(tail)}}\n`),
    ]);
    await nextTurn();
    return new Form(bytes, async () => {
      const parts = [await binaryV2({ ...head, ...tail })];
      for (const part of [...paths, ...definitions, ...(parameters === undefined ? [] : [parameters])]) parts.push(await part.binary());
      return Buffer.concat(parts);
    });
  }

  private async pathsV2(version: ServedVersion, writer: PathWriter): Promise<string> {
    const texts: string[] = [];
    for (const resource of version.resources) {
      await nextTurn();
      texts.push(inner(writer.paths(resourcePaths(this.options, { ...version, resources: [resource] }))));
    }
    return texts.join();
  }

  private async definitionsV2(groups: Groups): Promise<Part[]> {
    const all = groups.all.flatMap((group) => group.versions.flatMap((version) => version.resources));
    const own = all.filter((resource) => !resource.custom);
    if (this.builtin === undefined || !sameItems(this.builtin.resources, own)) {
      const definitions = await inSlices(this.definitions.v2(own, groups), new Slices());
      this.builtin = { resources: own, part: new Part('definitions', await inPieces(definitions)) };
    }
    const parts = [this.builtin.part];
    for (const resource of all.filter(({ custom }) => custom)) {
      let part = this.custom.get(resource);
      if (part === undefined) {
        await nextTurn();
        part = new Part('definitions', inner(this.definitions.v2Custom(resource)));
        this.custom.set(resource, part);
      }
      parts.push(part);
    }
    return parts;
  }

  private forgetLost(groups: Groups): void {
    const paths = new Set(groups.all.flatMap((group) => group.versions.map((version) => version.path)));
    for (const path of this.pieces.keys()) if (!paths.has(path)) this.pieces.delete(path);
  }

  // ---- version 3 -----------------------------------------------------------------------------------------------

  private async makeV3(version: ServedVersion, groups: Groups): Promise<Form> {
    await nextTurn();
    const custom = version.resources.every((resource) => resource.custom);
    const items = custom ? [] : discoveryPaths(this.options, version);
    for (const resource of version.resources) {
      items.push(...resourcePaths(this.options, { ...version, resources: [resource] }));
      await nextTurn();
    }
    const schemas = await inSlices(this.definitions.v3(version.resources, groups), new Slices());
    await nextTurn();
    return this.formV3(items, schemas, custom);
  }

  private smallV3(name: string, groups: Groups, paths: () => PathItem[], types: readonly MessageType[]): Form {
    const cachedForm = this.small.get(name);
    if (cachedForm !== undefined && cachedForm.groups === groups) return cachedForm.form;
    const form = this.formV3(paths(), this.definitions.v3Types(types, groups), false);
    // The groups that the server had before are not needed again.
    for (const [other, entry] of this.small) if (entry.groups !== groups) this.small.delete(other);
    this.small.set(name, { groups, form });
    return form;
  }

  private formV3(items: readonly PathItem[], schemas: Record<string, JsonObject>, custom: boolean): Form {
    const { identity, version } = this.options;
    const title = titleOf(identity);
    const document: JsonObject = {
      openapi: '3.0.0',
      info: custom ? { title: `${title} CRD Swagger`, version: 'v0.1.0' } : { title, version },
      paths: writerV3(identity).paths(items),
      components: { schemas, ...(!custom && { securitySchemes: { BearerToken: { ...securityScheme } } }) },
      ...(!custom && { security: [{ BearerToken: [] }] }),
    };
    const bytes = Buffer.from(jsonText(document));
    return new Form(bytes, () => binaryOfV3(bytes));
  }
}

/** What is added to the paths and to these definitions. */
async function remoteV2(definitions: readonly Part[], remote: readonly RemoteSpec[]): Promise<{ paths: Part; definitions: Part }> {
  const parts = await soundParts(remote);
  const ownDefinitions = (await mapIn(definitions)) as Record<string, JsonObject>;
  const more = await inSlices(mergedParts(ownDefinitions, parts), new Slices());
  return { paths: new Part('paths', await inPieces(more.paths)), definitions: new Part('definitions', await inPieces(more.definitions)) };
}

const remoteForms = new WeakMap<Buffer, Promise<Form>>();
/** The document of another server, in its binary form too where it can be written so. */
function remoteForm(bytes: Buffer): Promise<Form> {
  let form = remoteForms.get(bytes);
  if (form === undefined) {
    const refused = (): Promise<Buffer> => Promise.reject(notAcceptable(['application/json']));
    form = isSoundV3(bytes).then((sound) => new Form(bytes, sound ? () => binaryOfV3(bytes) : refused));
    remoteForms.set(bytes, form);
  }
  return form;
}

/** `apis/apps/v1` → `apps`, `v1`; `api/v1` is of the empty group; anything else is of none. */
function partsOf(name: string): (string | undefined)[] {
  const [root, ...parts] = name.split('/');
  if (root === 'api') return ['', ...parts];
  return root === 'apis' && parts[0] !== '' ? parts : [];
}

const titleOf = (identity: Identity): string => identity.word.charAt(0).toUpperCase() + identity.word.slice(1);
/** The text of a large object without its braces. */
async function inPieces(map: JsonObject): Promise<string> {
  const entries = Object.entries(map);
  const texts: string[] = [];
  for (let i = 0; i < entries.length; i += PIECE) {
    await nextTurn();
    texts.push(inner(Object.fromEntries(entries.slice(i, i + PIECE))));
  }
  return texts.join();
}
/** The text of an object without its braces. */
const inner = (object: object): string => jsonText(object).slice(1, -1);
const sameItems = <T>(a: readonly T[], b: readonly T[]): boolean => a.length === b.length && a.every((item, i) => item === b[i]);
