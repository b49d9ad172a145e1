/** What a conversion changed by itself, and what a person must decide. */

import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { differences, type Filled } from './carry-changes.ts';

export interface Note {
  /** `spec.rules[0].http.paths[0].pathType` */
  readonly path: string;
  /** A person must look at it. Otherwise the object does what it did before. */
  readonly decide: boolean;
  readonly text: string;
}

export interface Conversion {
  readonly manifest: JsonObject;
  readonly object: JsonObject;
  readonly filled: readonly Filled[];
  readonly adjusted: readonly Note[];
  /** Validation errors of the result that the original does not have. */
  readonly refused: readonly string[];
  readonly from: ServedKind;
  readonly to: ServedKind;
}

export function notesOf(conversion: Conversion): Note[] {
  const { filled, adjusted, refused, from, to } = conversion;
  const filledFields = filled.filter(({ path }) => !isMoved(path) && hasPath(conversion.object, path));
  const notes = [...adjusted, ...filledFields.map((one) => filledNote(one, from, to))];
  const covered = (path: string): boolean => notes.some((note) => note.path === path || note.path.startsWith(`${path}.`));
  notes.push(...structural(conversion).filter(({ path }) => !covered(path)));
  for (const text of refused) {
    const field = text.slice(0, text.indexOf(':'));
    // A field that has a note of its own needs no second one.
    if (!notes.some((note) => note.decide && note.path === field))
      notes.push({ path: field, decide: true, text: `${to.apiVersion} refuses it: ${text.slice(field.length + 2)}` });
  }
  return notes;
}

// ---- defaults ----------------------------------------------------------------------------------------------------

interface Choice {
  readonly kinds: RegExp;
  /** The path without indices. */
  readonly path: string;
  text(value: JsonValue): string;
}
const workloads = /^(?:DaemonSet|Deployment|ReplicaSet|StatefulSet)$/;
const webhooks = /WebhookConfiguration$/;

/** Fields that have a default in old versions and are required in version 1. */
const choices: readonly Choice[] = [
  {
    kinds: workloads,
    path: 'spec.selector',
    text: () =>
      'required now and cannot be changed later; taken from the labels of the template: check that no other object selects these pods',
  },
  {
    kinds: /^Ingress$/,
    path: 'spec.rules.http.paths.pathType',
    text: (value) => `required now: ${value} is what it was; choose Prefix or Exact if you know how the path is meant`,
  },
  {
    kinds: webhooks,
    path: 'webhooks.sideEffects',
    text: (value) => `${value} is not allowed in version 1: write None or NoneOnDryRun, once you know which is true`,
  },
  {
    kinds: webhooks,
    path: 'webhooks.admissionReviewVersions',
    text: (value) => `required now: ${jsonText(value)} is what it was; add v1 once the webhook understands it`,
  },
  {
    kinds: /^CustomResourceDefinition$/,
    path: 'spec.conversion.webhook.conversionReviewVersions',
    text: (value) => `required now: ${jsonText(value)} is what it was; add v1 once the webhook understands it`,
  },
  {
    kinds: /^CertificateSigningRequest$/,
    path: 'spec.signerName',
    text: (value) => `required now: ${value} is what the server would have chosen; version 1 does not sign for legacy-unknown`,
  },
];

function filledNote({ path, value, instead }: Filled, from: ServedKind, to: ServedKind): Note {
  const plain = path.replace(/\[\d+\]/g, '');
  const choice = choices.find((one) => one.path === plain && one.kinds.test(to.kind.kind));
  if (choice !== undefined) return { path, decide: true, text: choice.text(value) };
  const text = jsonText(value);
  const valueText = text.length > 60 ? '' : `${text} `;
  const other = isEmpty(instead) || jsonText(instead).length > 60 ? '' : `; that of ${to.apiVersion} is ${jsonText(instead)}`;
  return { path, decide: false, text: `${valueText}written out, the default of ${from.apiVersion}${other}` };
}

const isEmpty = (value: JsonValue | undefined): boolean => value === undefined || value === null || value === '';
function hasPath(object: JsonValue, path: string): boolean {
  let at: JsonValue | undefined = object;
  for (const key of path.split(/[.[\]]+/).filter((one) => one !== ''))
    at = typeof at === 'object' && at !== null ? own(at as JsonObject, key) : undefined;
  return at !== undefined;
}

// ---- fields ------------------------------------------------------------------------------------------------------

const ignored: ReadonlySet<string> = new Set(['apiVersion']);

/** Fields that were removed, added or renamed. */
function structural({ manifest, object }: Conversion): Note[] {
  const { removed, added, changed } = differences(manifest, object);
  const notes: Note[] = [];
  const come = new Set(added);
  for (const path of removed) {
    const parent = path.slice(0, path.lastIndexOf('.') + 1);
    const names = [...come].filter((one) => one.startsWith(parent) && !one.slice(parent.length).includes('.'));
    const to = own(moves, path) ?? names.join(', ');
    notes.push({ path, decide: false, text: to === '' ? 'removed' : `becomes ${to}` });
  }
  const explained = (path: string): boolean => notes.some(({ text }) => text.startsWith('becomes') && text.includes(path));
  for (const path of come) if (!explained(path)) notes.push({ path, decide: false, text: 'added' });
  for (const path of changed) if (!ignored.has(path)) notes.push({ path, decide: false, text: 'changed' });
  return notes;
}
/** Fields of definitions that were common to all versions. */
const moves: Readonly<Record<string, string>> = {
  'spec.version': 'spec.versions',
  'spec.validation': 'spec.versions[*].schema',
  'spec.subresources': 'spec.versions[*].subresources',
  'spec.additionalPrinterColumns': 'spec.versions[*].additionalPrinterColumns',
};
/** The list that such fields are moved to: its change needs no note. */
const isMoved = (path: string): boolean => path === 'spec.versions';
