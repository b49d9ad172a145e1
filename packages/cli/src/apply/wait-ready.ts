/** `--wait=ready`: waits until all applied objects are ready, and says which are not. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { versionPath } from '@plat-dev/client/paths';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { Deadline, followObject } from '../objects/follow-object.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { Progress } from '../terminal/progress.ts';
import { shownName, type Work } from '../work.ts';
import { type Readiness, readinessOf } from './readiness.ts';

/** Objects that are not ready, with what is missing. `timeout` in milliseconds, 0 is unlimited. */
export async function waitUntilReady(work: Work, refs: readonly ObjectRef[], timeout: number, progress: Progress): Promise<string[]> {
  const deadline = new Deadline(timeout, work.io.clock);
  const statuses = new StatusKinds(work);
  const problems: string[] = [];
  for (const [i, ref] of refs.entries()) {
    const displayName = shownName(ref.resource, ref.name);
    const hasStatus = await statuses.has(ref.resource);
    let last: Readiness = { ready: false, why: 'it was not read' };
    const isReady = await followObject(work, ref, deadline, (object) => {
      last = readinessOf(object === undefined ? undefined : { kind: ref.resource.kind, ...object }, hasStatus);
      progress.show(`waiting for ${i + 1} of ${refs.length}: ${displayName}${last.why === '' ? '' : `: ${last.why}`}`);
      return last.ready || last.failed === true;
    });
    if (!isReady || !last.ready) problems.push(`${displayName} is not ready: ${last.why}`);
  }
  progress.clear();
  return problems;
}

/** Kinds of groups that are not built in are ready by their condition, if they have a status that a controller can write. */
class StatusKinds {
  private readonly work: Work;
  private readonly versions = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(work: Work) {
    this.work = work;
  }
  async has({ group, version, name, kind }: ApiResource): Promise<boolean> {
    const { schemaOfKind } = await import('../discovery/kind-schemas.ts');
    if (schemaOfKind(joinApiVersion(group, version), kind) !== undefined) return false;
    const path = versionPath(group, version);
    let pending = this.versions.get(path);
    if (pending === undefined) {
      pending = this.work.session.transport
        .json<{ resources?: { name: string }[] }>({ path })
        .then(({ resources = [] }) => new Set(resources.map((one) => one.name)));
      this.versions.set(path, pending);
    }
    return (await pending).has(`${name}/status`);
  }
}
