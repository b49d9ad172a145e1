/**
 * The built-in kinds with every version that this server can serve. Which of them are served depends on `--api-release` and
 * `--runtime-config`. A server that serves none of them does not load this module.
 */
import type { Identity } from '@plat-dev/meta/identity';
import { olderAdmissionRegistration } from './admissionregistration/older.ts';
import { olderAPIExtensions } from './apiextensions/older.ts';
import { olderAPIRegistration } from './apiregistration/older.ts';
import { olderApps } from './apps/older.ts';
import { olderAuthentication } from './authentication/older.ts';
import { olderAuthorization } from './authorization/older.ts';
import { olderBatch } from './batch/older.ts';
import { olderCertificates } from './certificates/older.ts';
import { olderCoordination } from './coordination/older.ts';
import { extensionsKinds } from './extensions/older.ts';
import { olderFlowControl } from './flowcontrol/older.ts';
import type { Kind } from './kind.ts';
import { olderNetworking } from './networking/older.ts';
import { olderNode } from './node/older.ts';
import type { OlderVersions } from './older.ts';
import { olderRBAC } from './rbac/older.ts';
import { olderScheduling } from './scheduling/older.ts';
import { olderStorage } from './storage/older.ts';

const olderVersions: readonly OlderVersions[] = [
  ...olderAdmissionRegistration,
  ...olderAPIRegistration,
  ...olderApps,
  ...olderAuthentication,
  ...olderAuthorization,
  ...olderBatch,
  ...olderCertificates,
  ...olderCoordination,
  ...olderFlowControl,
  ...olderNetworking,
  ...olderNode,
  ...olderRBAC,
  ...olderScheduling,
  ...olderStorage,
];

/**
 * The kinds with their older versions appended, followed by the kinds of removed groups. `kinds` are those of `builtinKinds`.
 */
export function withOlderVersions(kinds: readonly Kind[], identity: Identity): Kind[] {
  const all = [...olderVersions, ...olderAPIExtensions(identity)];
  const byName = new Map(all.map((older) => [`${older.group}/${older.plural}`, older]));
  return [...kinds.map((kind) => withVersions(kind, byName.get(`${kind.group}/${kind.plural}`))), ...extensionsKinds];
}

function withVersions(kind: Kind, older: OlderVersions | undefined): Kind {
  if (older === undefined) return kind;
  const { versions, orphansByDefault } = older;
  return {
    ...kind,
    versions: { ...kind.versions, ...versions },
    ...(orphansByDefault !== undefined && { orphansByDefault }),
  };
}
