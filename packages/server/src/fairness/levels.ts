/**
 * The priority levels by their objects: each level that is not exempt gets its part of the server's seats by its shares.
 *
 *   600 seats, shares system 30, workload-low 100, catch-all 5        system 600 × 30/135 → 134 seats, rounded up
 *
 * The mandatory levels exist even without their objects.
 */
import { mandatoryLevels } from '@plat-dev/kinds/flowcontrol/mandatory-objects';
import type { PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import { Level, type LevelConfig } from './level.ts';

export class Levels {
  private readonly total: number;
  private readonly byName = new Map<string, Level>();

  /** `total`: seats of all levels together. */
  constructor(total: number) {
    this.total = total;
  }

  get(name: string): Level | undefined {
    const level = this.byName.get(name);
    return level === undefined || level.quiescing ? undefined : level;
  }
  /** Deleted ones too, while requests are in them. */
  all(): Level[] {
    return [...this.byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  update(objects: readonly PriorityLevelConfiguration[], now: number): void {
    const specsByName = new Map<string, { uid: string; spec: PriorityLevelConfigurationSpec }>();
    for (const [name, spec] of mandatoryLevels) specsByName.set(name, { uid: '', spec });
    for (const { metadata, spec } of objects) specsByName.set(metadata.name ?? '', { uid: metadata.uid ?? '', spec });
    let shares = 0;
    for (const { spec } of specsByName.values()) shares += sharesOf(spec);
    for (const [name, { uid, spec }] of specsByName) {
      const config = configOf(uid, spec, Math.ceil((this.total * sharesOf(spec)) / Math.max(shares, 1)));
      const level = this.byName.get(name);
      if (level === undefined) this.byName.set(name, new Level(name, config));
      else level.configure(config, now);
    }
    for (const [name, level] of this.byName) {
      if (specsByName.has(name)) continue;
      level.quiescing = true;
      if (level.idle) this.byName.delete(name);
    }
  }
}

const sharesOf = (spec: PriorityLevelConfigurationSpec): number =>
  spec.type === 'Exempt' ? 0 : (spec.limited?.assuredConcurrencyShares ?? 30);

function configOf(uid: string, spec: PriorityLevelConfigurationSpec, limit: number): LevelConfig {
  if (spec.type === 'Exempt') return { uid, exempt: true, limit: 0, queues: 0, handSize: 0, queueLengthLimit: 0 };
  const response = spec.limited?.limitResponse;
  const seats = { uid, exempt: false, limit: Math.max(limit, 1) };
  if (response?.type !== 'Queue') return { ...seats, queues: 0, handSize: 0, queueLengthLimit: 0 };
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = response.queuing ?? {};
  return { ...seats, queues, handSize, queueLengthLimit };
}
