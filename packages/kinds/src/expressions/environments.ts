/**
 * What expressions of the API may use, by the release of the server and by what they are for.
 *
 *   environmentsFor('1.36', 'rule').added       new rules of custom resources
 *   environmentsFor('1.36', 'policy').stored    stored expressions that may ask for access: policies, match conditions
 *   environmentsFor('1.36', 'mutation')         the same, and they make objects and patches
 */
import {
  authorizerLibrary,
  type Environments,
  environmentsOf,
  type Library,
  mutationLibrary,
  type NamedFormat,
  namedFormats,
} from '@plat-dev/cel';
import { dns1035Label, labelValue, nameIsDns1035Label, nameIsLabel, nameIsSubdomain, qualifiedName } from '@plat-dev/meta/names';
import { hasFormat } from '../apiextensions/values/formats.ts';

export type ExpressionUse = 'rule' | 'policy' | 'mutation';

/** A format of which there is one thing to say. */
const simple = (format: string, patternLength: number, fault: (text: string) => string): NamedFormat => ({
  validate: (text) => (hasFormat(format, text) ? [] : [fault(text)]),
  patternLength,
});
const named = (patternLength: number, validate: (text: string) => readonly string[]): NamedFormat => ({ validate, patternLength });

const formats = namedFormats('1.31', {
  dns1123Label: named(30, (text) => nameIsLabel(text)),
  dns1123Subdomain: named(60, (text) => nameIsSubdomain(text)),
  dns1035Label: named(30, dns1035Label),
  qualifiedName: named(60, qualifiedName),
  dns1123LabelPrefix: named(30, (text) => nameIsLabel(text, true)),
  dns1123SubdomainPrefix: named(60, (text) => nameIsSubdomain(text, true)),
  dns1035LabelPrefix: named(30, (text) => nameIsDns1035Label(text, true)),
  labelValue: named(40, labelValue),
  uri: simple('uri', 1103, (text) => `parse ${JSON.stringify(text)}: ${text === '' ? 'empty url' : 'invalid URI for request'}`),
  uuid: simple('uuid', 74, () => 'does not match the UUID format'),
  byte: simple('byte', 84, () => 'invalid base64'),
  date: simple('date', 72, () => 'invalid date'),
  datetime: simple('datetime', 72, () => 'invalid datetime'),
});

const libraries: Readonly<Record<ExpressionUse, readonly Library[]>> = {
  rule: [formats],
  policy: [formats, ...authorizerLibrary],
  mutation: [formats, ...authorizerLibrary, ...mutationLibrary],
};
/** Made when they are first asked for; there are no more than releases and uses. */
const environments = new Map<string, Environments>();

export function environmentsFor(release: string, use: ExpressionUse): Environments {
  const key = `${release} ${use}`;
  let pair = environments.get(key);
  if (pair === undefined) {
    pair = environmentsOf(release, { libraries: libraries[use] });
    environments.set(key, pair);
  }
  return pair;
}
