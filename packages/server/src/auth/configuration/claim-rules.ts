/** How the claims of a token become a user: by the names of claims, or by expressions about them. */
import type { ConfigExpression } from '@plat-dev/kinds/expressions/config-expressions';
import { own } from '@plat-dev/lib/own';
import type { Claims } from '@plat-dev/pki/jwt';
import { TokenRejected, type User } from '../types.ts';

/** The name of a claim, with what is put before its values, or an expression. */
export type ClaimSource = { readonly claim: string; readonly prefix: string } | { readonly expression: ConfigExpression };

/** A rule that must hold; `message` is said where it does not. */
export interface HeldRule {
  readonly expression: ConfigExpression;
  readonly message: string;
}

interface ClaimMappings {
  readonly username: ClaimSource;
  readonly groups?: ClaimSource | undefined;
  readonly uid?: ClaimSource | undefined;
  readonly extra: readonly { readonly key: string; readonly value: ConfigExpression }[];
}

export interface ClaimRules {
  readonly mappings: ClaimMappings;
  readonly required: readonly { readonly claim: string; readonly value: string }[];
  readonly claimRules: readonly HeldRule[];
  readonly userRules: readonly HeldRule[];
}

const reject = (why: string): never => {
  throw new TokenRejected(`oidc: ${why}`);
};

function evaluated(expression: ConfigExpression, values: Readonly<Record<string, unknown>>): unknown {
  try {
    return expression.evaluate(values);
  } catch (error) {
    return reject(`expression ${JSON.stringify(expression.source)} failed: ${(error as Error).message}`);
  }
}

function demand(rules: readonly HeldRule[], values: Readonly<Record<string, unknown>>): void {
  for (const { expression, message } of rules) {
    if (evaluated(expression, values) === true) continue;
    reject(message === '' ? `validation expression ${JSON.stringify(expression.source)} failed` : message);
  }
}

/** Empty and absent values are none. */
function textsOf(value: unknown, what: string): string[] {
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : [value];
  if (!list.every((one) => typeof one === 'string')) return reject(`${what} is neither a text nor a list of texts`);
  return list.filter((one: string) => one !== '') as string[];
}

function textOf(value: unknown, what: string): string {
  return typeof value === 'string' ? value : reject(`${what} is not a text`);
}

const describe = (source: ClaimSource, part: string): string => ('claim' in source ? `claim ${source.claim}` : `the ${part}`);
const valueIn = (source: ClaimSource, claims: Claims): unknown =>
  'claim' in source ? own(claims, source.claim) : evaluated(source.expression, { claims });
const prefixOf = (source: ClaimSource): string => ('claim' in source ? source.prefix : '');

function usernameOf(source: ClaimSource, claims: Claims): string {
  if ('claim' in source && source.claim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    reject('email not verified');
  const name = textOf(valueIn(source, claims), describe(source, 'user name'));
  return name === '' ? reject('the user name is empty') : prefixOf(source) + name;
}

function extraOf(extra: ClaimMappings['extra'], claims: Claims): User['extra'] {
  const entries = extra
    .map(({ key, value }) => [key, textsOf(evaluated(value, { claims }), `the value of ${key}`)] as const)
    .filter(([, values]) => values.length > 0);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Throws TokenRejected where a rule does not hold. */
export function userOfClaims({ mappings, required, claimRules, userRules }: ClaimRules, claims: Claims): User {
  for (const { claim, value } of required) {
    const actual = own(claims, claim);
    if (actual === undefined) reject(`required claim ${claim} not present`);
    if (actual !== value) reject(`required claim ${claim} has another value`);
  }
  demand(claimRules, { claims });
  const { username, groups, uid, extra } = mappings;
  const name = usernameOf(username, claims);
  const userUid = uid === undefined ? '' : textOf(valueIn(uid, claims), describe(uid, 'uid'));
  const userExtra = extraOf(extra, claims);
  const user: User = {
    name,
    ...(userUid !== '' && { uid: userUid }),
    groups:
      groups === undefined ? [] : textsOf(valueIn(groups, claims), describe(groups, 'groups')).map((group) => prefixOf(groups) + group),
    ...(userExtra && { extra: userExtra }),
  };
  demand(userRules, { user: { username: name, uid: userUid, groups: user.groups, extra: userExtra ?? {} } });
  return user;
}
