/**
 * What kinds and fields mean, one plain sentence each, for the published schema documents. Nothing else needs these
 * texts, so only the code that makes those documents loads this module.
 *
 * Messages are found without their version (`core.v1.PodSpec` → `core.PodSpec`), because versions agree on meanings.
 * A field that its message does not describe has the meaning that its name has everywhere.
 */
import { access } from './descriptions/access.ts';
import { anywhere } from './descriptions/anywhere.ts';
import { cluster } from './descriptions/cluster.ts';
import { config } from './descriptions/config.ts';
import { extension } from './descriptions/extension.ts';
import { meta } from './descriptions/meta.ts';
import { network } from './descriptions/network.ts';
import { nodes } from './descriptions/nodes.ts';
import { pods } from './descriptions/pods.ts';
import { published } from './descriptions/published.ts';
import { scaling } from './descriptions/scaling.ts';
import { scheduling } from './descriptions/scheduling.ts';
import { storage } from './descriptions/storage.ts';
import { volumes } from './descriptions/volumes.ts';
import { workloads } from './descriptions/workloads.ts';

/** `$` describes the message itself, the other keys its fields. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const all: Descriptions = {
  ...meta,
  ...published,
  ...pods,
  ...volumes,
  ...scheduling,
  ...config,
  ...nodes,
  ...network,
  ...workloads,
  ...scaling,
  ...storage,
  ...access,
  ...cluster,
  ...extension,
};

const withoutVersion = (message: string): string => message.replace(/\.v\d[a-z0-9]*\./, '.');
const shortName = (message: string): string => message.slice(message.lastIndexOf('.') + 1);

const conditionFields: Readonly<Record<string, string>> = {
  type: 'The name of the condition.',
  status: 'Whether the condition holds: True, False or Unknown.',
  reason: 'A short reason in one word, for programs to read.',
  message: 'Details, for people to read.',
};

function fieldOf(own: Readonly<Record<string, string>>, message: string, field: string): string | undefined {
  if (Object.hasOwn(own, field)) return own[field];
  if (message.endsWith('Condition') && Object.hasOwn(conditionFields, field)) return conditionFields[field];
  // Schema extensions carry the prefix of the identity: `x-plat.dev-list-type` is described under `x-list-type`.
  if (field.startsWith('x-')) return Object.entries(own).find(([key]) => key.startsWith('x-') && field.endsWith(key.slice(1)))?.[1];
  return Object.hasOwn(anywhere, field) ? anywhere[field] : undefined;
}

/** The description of a message (`core.v1.Pod`), or of one of its fields by JSON name. Undefined when there is none. */
export function descriptionOf(message: string, field?: string): string | undefined {
  const key = withoutVersion(message);
  const own = (Object.hasOwn(all, key) ? all[key] : undefined) ?? {};
  if (field !== undefined) return fieldOf(own, key, field);
  if (own.$ !== undefined) return own.$;
  return key.endsWith('List') ? `A list of ${shortName(key).slice(0, -'List'.length)} objects.` : undefined;
}
