/** The state of the store as a ComponentStatus. */
import type { ComponentStatus } from '@plat-dev/kinds/core/schema/cluster';
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { notFound } from '@plat-dev/meta/errors';
import type { Engine } from '@plat-dev/storage/engine';
import type { Computed } from '../services.ts';

const STORE = 'etcd-0';

/** `release`: since 1.33 an unknown name is reported as one of `componentstatus`. */
export function componentStatuses(engine: Engine, release: ApiRelease): Computed {
  const resource = isAtLeast(release, '1.33') ? 'componentstatus' : 'componentstatuses';
  const store = async (): Promise<ComponentStatus> => {
    const status = (healthy: boolean, text: string): ComponentStatus => ({
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      metadata: { name: STORE },
      conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', ...(healthy ? { message: text } : { error: text }) }],
    });
    try {
      await engine.ping();
      return status(true, '{"health":"true","reason":""}');
    } catch (error) {
      return status(false, error instanceof Error ? error.message : String(error));
    }
  };
  return {
    get: (name) => {
      if (name !== STORE) throw notFound({ group: '', resource }, name);
      return store();
    },
    list: async () => [await store()],
  };
}
