/**
 * What Helm 3 sends: each object is read and created, or patched by the difference between the release before, the new release and the
 * object as it is; what only the release before has is deleted; releases are kept as secrets.
 */
import { gzipSync } from 'node:zlib';
import { schemaOfKind } from '../../packages/cli/src/discovery/kind-schemas.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { threeWayPatch } from '../../packages/patch/src/three-way.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { type Manifest, pathOf, type Resources } from './objects.ts';

export class HelmRelease {
  private readonly server: TestServer;
  private readonly resources: Resources;
  private readonly name: string;
  private readonly namespace: string;
  private revision = 0;

  constructor(server: TestServer, resources: Resources, name: string, namespace: string) {
    this.server = server;
    this.resources = resources;
    this.name = name;
    this.namespace = namespace;
  }

  async install(objects: readonly Manifest[]): Promise<void> {
    await this.begin('pending-install', objects);
    for (const object of objects) if ((await this.current(object)) !== undefined) throw new Error(`${object.metadata.name} exists`);
    for (const object of objects) await this.create(object);
    await this.label(this.revision, 'deployed');
  }

  /** Also a rollback: then the new release is an earlier one. */
  async upgrade(before: readonly Manifest[], after: readonly Manifest[]): Promise<void> {
    await this.begin('pending-upgrade', after);
    const previous = new Map(before.map((object) => [this.path(object), object]));
    for (const object of after) {
      const current = await this.current(object);
      if (current === undefined) await this.create(object);
      else await this.patch(previous.get(this.path(object)), object, current);
    }
    const kept = new Set(after.map((object) => this.path(object)));
    for (const object of before) if (!kept.has(this.path(object))) await this.delete(object);
    await this.label(this.revision - 1, 'superseded');
    await this.label(this.revision, 'deployed');
  }

  async uninstall(objects: readonly Manifest[]): Promise<void> {
    await this.label(this.revision, 'uninstalling');
    for (const object of [...objects].reverse()) await this.delete(object);
    for (let revision = 1; revision <= this.revision; revision++) await this.server.admin.ok('DELETE', this.secretPath(revision));
    this.revision = 0;
  }

  private path(object: Manifest): string {
    return pathOf(this.resources, object);
  }
  private async current(object: Manifest): Promise<Loose | undefined> {
    const answer = await this.server.admin.get(this.path(object));
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`GET ${this.path(object)}: ${answer.status} ${answer.text}`);
    return answer.json;
  }
  private async create(object: Manifest): Promise<void> {
    const path = this.path(object);
    await this.server.admin.ok('POST', `${path.slice(0, path.lastIndexOf('/'))}?fieldManager=helm`, this.owned(object));
  }
  private async patch(before: Manifest | undefined, after: Manifest, current: Loose): Promise<void> {
    const type = schemaOfKind(after.apiVersion, after.kind);
    const patch = threeWayPatch({ type, lastApplied: before as never, applied: this.owned(after) as never, current, overwrite: true });
    if (Object.keys(patch).length === 0) return;
    const media = type === undefined ? 'merge-patch' : 'strategic-merge-patch';
    const answer = await this.server.admin.patch(`${this.path(after)}?fieldManager=helm`, patch, media);
    if (answer.status !== 200) throw new Error(`PATCH ${this.path(after)}: ${answer.status} ${answer.text} for ${jsonText(patch)}`);
  }
  private async delete(object: Manifest): Promise<void> {
    const answer = await this.server.admin.delete(this.path(object), {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
    });
    if (answer.status !== 200 && answer.status !== 202) throw new Error(`DELETE ${this.path(object)}: ${answer.status} ${answer.text}`);
  }

  /** Helm marks what belongs to it. */
  private owned(object: Manifest): Manifest {
    const { metadata } = object;
    const annotations = {
      ...metadata.annotations,
      'meta.helm.sh/release-name': this.name,
      'meta.helm.sh/release-namespace': this.namespace,
    };
    return { ...object, metadata: { ...metadata, annotations, labels: { ...metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' } } };
  }

  private secretPath(revision: number): string {
    return `/api/v1/namespaces/${this.namespace}/secrets/sh.helm.release.v1.${this.name}.v${revision}`;
  }
  private async begin(status: string, objects: readonly Manifest[]): Promise<void> {
    const revision = ++this.revision;
    const release = gzipSync(JSON.stringify({ name: this.name, version: revision, info: { status }, manifest: objects })).toString(
      'base64',
    );
    await this.server.admin.ok('POST', `/api/v1/namespaces/${this.namespace}/secrets`, {
      metadata: { name: `sh.helm.release.v1.${this.name}.v${revision}`, labels: this.labels(status, revision) },
      type: 'helm.sh/release.v1',
      data: { release: Buffer.from(release).toString('base64') },
    });
  }
  /** Releases are found by their labels: newest first, deployed, and so on. */
  private async label(revision: number, status: string): Promise<void> {
    const secret = await this.server.admin.ok('GET', this.secretPath(revision));
    secret.metadata.labels = this.labels(status, revision);
    await this.server.admin.ok('PUT', this.secretPath(revision), secret);
    const query = encodeURIComponent(`owner=helm,status=${status},name=${this.name}`);
    const { items } = await this.server.admin.ok('GET', `/api/v1/namespaces/${this.namespace}/secrets?labelSelector=${query}`);
    if (!items.some((item: Loose) => item.metadata.name === secret.metadata.name))
      throw new Error(`the release ${revision} is not found as ${status}`);
  }
  private labels(status: string, revision: number): Record<string, string> {
    return { name: this.name, owner: 'helm', status, version: String(revision) };
  }
}
