/** Deletes objects whose owners are gone, and completes foreground and orphan deletions. */
import type { Controller } from '../runtime/controller.ts';
import { AbsentOwners } from './absent-owners.ts';
import { Collector } from './collector.ts';
import { Graph } from './graph.ts';
import { Monitors } from './monitors.ts';

export interface GarbageSettings {
  /**
   * How long orphaning is delayed, so that dependents which are already stored have
   * been seen. Zero if changes arrive in the order in which they were made.
   */
  readonly settleMs: number;
}

/** Many, because the store commits concurrent writes together. */
const WORKERS = 64;

export function garbageCollector({ settleMs }: GarbageSettings): Controller {
  return {
    name: 'garbagecollector',
    account: 'generic-garbage-collector',
    start({ client, served, clock, random, queue, onStop, log }) {
      const unresolved = new Set<string>();
      const checks = queue((uid) => collector.check(uid), { name: 'garbage_collector_attempt_to_delete', workers: WORKERS });
      const orphans = queue((uid) => collector.orphan(uid), { name: 'garbage_collector_attempt_to_orphan', workers: WORKERS });
      const graph = new Graph({
        check: (uid) => checks.add(uid),
        orphan: (uid) => orphans.addAfter(uid, settleMs),
      });
      const monitors = new Monitors({
        client,
        graph,
        clock,
        spread: () => random.float(),
        report: (error, resource) =>
          log.debug(2, 'watch failed, retrying', { resource: resource.name, group: resource.group, error: String(error) }),
      });
      const collector = new Collector({
        client,
        graph,
        absent: new AbsentOwners(),
        resourceOf: (apiVersion, kind) => served.resourceOf(apiVersion, kind),
        ready: () => monitors.ready(),
        check: (uid) => checks.add(uid),
        unresolved: (uid) => void unresolved.add(uid),
      });
      const forget = served.onChange((discovered) => {
        monitors.update(discovered);
        // Objects that waited for this kind can be processed now.
        for (const uid of unresolved) checks.add(uid);
        unresolved.clear();
      });
      onStop(() => {
        forget();
        monitors.stop();
      });
    },
  };
}
