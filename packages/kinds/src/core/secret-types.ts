/** Types of secrets with required keys. Other types may hold any keys. */

import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { parseJson } from '@plat-dev/schema/json/parse';
import type { KindEnv } from '../kind.ts';
import type { Secret } from './schema/config.ts';

const data = Path.of('data');

const entryOf = (secret: Secret, key: string): string | undefined => own(secret.data, key);

/** A key that holds a JSON object. The error does not show its content. */
function jsonKey(secret: Secret, key: string, errors: FieldErrors): void {
  const value = entryOf(secret, key);
  if (value === undefined) {
    errors.required(data.key(key));
    return;
  }
  const why = problemAboutJson(Buffer.from(value, 'base64'));
  if (why !== undefined) errors.invalid(data.key(key), '<secret contents redacted>', why);
}

function problemAboutJson(bytes: Buffer): string | undefined {
  let content: unknown;
  try {
    content = parseJson(bytes);
  } catch (error) {
    return (error as Error).message;
  }
  if (content === null || (typeof content === 'object' && !Array.isArray(content))) return undefined;
  return `the content must be a JSON object, not ${Array.isArray(content) ? 'an array' : `a ${typeof content}`}`;
}

type TypeRule = (secret: Secret, errors: FieldErrors, env: KindEnv) => void;

const rules: Readonly<Record<string, TypeRule>> = {
  'service-account-token': (secret, errors, env) => {
    const name = domainName(env.identity, 'service-account.name');
    if ((secret.metadata.annotations?.[name] ?? '') === '') errors.required(Path.of('metadata', 'annotations').key(name));
  },
  dockercfg: (secret, errors) => jsonKey(secret, '.dockercfg', errors),
  dockerconfigjson: (secret, errors) => jsonKey(secret, '.dockerconfigjson', errors),
  'basic-auth': (secret, errors) => {
    if (entryOf(secret, 'username') !== undefined || entryOf(secret, 'password') !== undefined) return;
    errors.required(data.key('username'));
    errors.required(data.key('password'));
  },
  'ssh-auth': (secret, errors) => {
    if ((entryOf(secret, 'ssh-privatekey') ?? '') === '') errors.required(data.key('ssh-privatekey'));
  },
  tls: (secret, errors) => {
    for (const key of ['tls.crt', 'tls.key']) if (entryOf(secret, key) === undefined) errors.required(data.key(key));
  },
};

export function validateSecretType(secret: Secret, errors: FieldErrors, env: KindEnv): void {
  const { type = '' } = secret;
  const prefix = domainName(env.identity, '');
  if (!type.startsWith(prefix)) return;
  const name = type.slice(prefix.length);
  own(rules, name)?.(secret, errors, env);
}
