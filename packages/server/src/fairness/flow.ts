import type { FlowSchema } from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import type { BodyAccount } from './bodies.ts';
import type { SchemaMetrics } from './flow-metrics.ts';
import type { FairQueue, Level } from './level.ts';
import type { UserShare } from './user-shares.ts';

/** Requests that share their queues: those of one schema and one user, or one namespace. */
export interface Flow {
  readonly schema: Schema;
  readonly level: Level;
  /** User or namespace, by the distinguisher of the schema. */
  readonly distinguisher: string;
  /** Empty if the level has no queues. */
  readonly hand: readonly FairQueue[];
  /** Incomplete bodies of the user at this level. */
  readonly bodies: BodyAccount;
  /** The user's share of the event loop, whatever the level. */
  readonly share: UserShare;
}

export interface Schema {
  readonly name: string;
  readonly uid: string;
  readonly level: Level;
  readonly distinguisher: string;
  readonly rules: NonNullable<FlowSchema['spec']['rules']>;
  readonly metrics: SchemaMetrics;
}
