/** Validation of certificate signing requests and of their updates. */

import { X509Certificate } from 'node:crypto';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { pathSegmentName } from '@plat-dev/meta/names';
import { parseRequest } from '@plat-dev/pki';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { each, repeatedTexts } from '../validation/each.ts';
import { goBytes } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { type CertificateSigningRequest, type CertificateSigningRequestCondition, keyUsages } from './schema/v1.ts';
import { validateSignerName } from './signer-names.ts';

const spec = Path.of('spec');
const conditionsPath = Path.of('status', 'conditions');
const certificatePath = Path.of('status', 'certificate');
const MIN_EXPIRATION_SECONDS = 600;

/** Values that clients of version 1beta1 may write, and that a request stored with it may keep. */
interface Allowances {
  readonly legacySigner: boolean;
  readonly unknownUsages: boolean;
  readonly repeatedUsages: boolean;
  readonly repeatedConditions: boolean;
  readonly namelessConditions: boolean;
  readonly anyCertificate: boolean;
  /** Both Approved and Denied, which no version allows. */
  readonly contradictions: boolean;
}
function allowancesOf(old: CertificateSigningRequest | undefined, isBeta: boolean, isSameCertificate: boolean, env: KindEnv): Allowances {
  const { usages: oldUsages = [], signerName = '' } = old?.spec ?? {};
  const { conditions = [], certificate = '' } = old?.status ?? {};
  const types = conditions.map(({ type }) => type);
  return {
    legacySigner: isBeta || signerName === env.identity.signers.legacyUnknown,
    unknownUsages: isBeta || oldUsages.some((usage) => !keyUsages.includes(usage)),
    repeatedUsages: isBeta || new Set(oldUsages).size < oldUsages.length,
    repeatedConditions: isBeta || new Set(types).size < types.length,
    namelessConditions: isBeta || types.includes(''),
    anyCertificate: isBeta || isSameCertificate || (old !== undefined && certificateFault(textOf(certificate)) !== undefined),
    contradictions: types.includes('Approved') && types.includes('Denied'),
  };
}
const isBetaRequest = ({ resource }: WriteRequest): boolean => resource.version === 'v1beta1';
const textOf = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('latin1');

export function validateRequest(request: CertificateSigningRequest, errors: FieldErrors, env: KindEnv, write: WriteRequest): void {
  validateWith(allowancesOf(undefined, isBetaRequest(write), false, env), request, errors, env);
}

function validateWith(allowed: Allowances, request: CertificateSigningRequest, errors: FieldErrors, env: KindEnv): void {
  const { request: pem, usages: requestUsages = [], signerName, expirationSeconds } = request.spec;
  const fault = requestFault(textOf(pem));
  if (fault !== undefined) invalidText(errors, spec.child('request'), goBytes(pem), fault);
  if (requestUsages.length === 0) errors.required(spec.child('usages'), 'usages must be provided');
  each(requestUsages, spec.child('usages'), (usage, at) => {
    if (!allowed.unknownUsages && !keyUsages.includes(usage)) errors.notSupported(at, usage, keyUsages);
  });
  const again = repeatedTexts(requestUsages);
  each(requestUsages, spec.child('usages'), (usage, at, i) => {
    if (!allowed.repeatedUsages && again[i]) errors.duplicate(at, usage);
  });
  validateSigner(signerName, allowed.legacySigner, spec.child('signerName'), errors, env);
  if (expirationSeconds !== undefined && expirationSeconds < MIN_EXPIRATION_SECONDS)
    errors.invalid(
      spec.child('expirationSeconds'),
      expirationSeconds,
      `may not specify a duration less than ${MIN_EXPIRATION_SECONDS} seconds (${MIN_EXPIRATION_SECONDS / 60} minutes)`,
    );
  validateConditions(request.status.conditions, allowed, errors);
  const wrong = allowed.anyCertificate ? undefined : certificateFault(textOf(request.status.certificate));
  if (wrong !== undefined) errors.invalid(certificatePath, '<certificate data>', wrong);
}

function requestFault(pem: string): string | undefined {
  try {
    return parseRequest(pem).signed ? undefined : 'x509: the signature of the request is not that of its key';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function validateSigner(name: string, legacy: boolean, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (!legacy && name === env.identity.signers.legacyUnknown) {
    errors.invalid(at, name, 'the legacy signerName is not allowed via this API version');
    return;
  }
  validateSignerName(name, at, errors);
}

/** Decisions cannot be revoked: such a condition is True or absent. */
const decisions = ['Approved', 'Denied', 'Failed'];
const statuses = ['False', 'True', 'Unknown'];
const opposites: Readonly<Record<string, string>> = { Approved: 'Denied', Denied: 'Approved' };

function validateConditions(
  conditions: readonly CertificateSigningRequestCondition[] | undefined,
  allowed: Allowances,
  errors: FieldErrors,
): void {
  const visitedTypes = new Set<string>();
  each(conditions, conditionsPath, ({ type, status }, at) => {
    if (type === '' && !allowed.namelessConditions) errors.required(at.child('type'));
    const supportedStatuses = decisions.includes(type) ? ['True'] : statuses;
    if (status === '') errors.required(at.child('status'));
    else if (!supportedStatuses.includes(status)) errors.notSupported(at.child('status'), status, supportedStatuses);
    const opposite = own(opposites, type);
    if (!allowed.contradictions && opposite !== undefined && visitedTypes.has(opposite))
      errors.invalid(at.child('type'), type, 'Approved and Denied conditions are mutually exclusive');
    if (!allowed.repeatedConditions && visitedTypes.has(type)) errors.duplicate(at.child('type'), type);
    visitedTypes.add(type);
  });
}

/** The PEM blocks of a text, one after another: each offset is visited once, even if ends are missing. */
function* pemBlocks(pem: string): Generator<{ readonly block: string; readonly type: string }> {
  const begin = /-----BEGIN ([^-]{1,64})-----/g;
  /** Types without an end after this offset. */
  const endless = new Set<string>();
  for (let beginMatch = begin.exec(pem); beginMatch !== null; beginMatch = begin.exec(pem)) {
    const type = beginMatch[1] as string;
    if (endless.has(type)) continue;
    const end = `-----END ${type}-----`;
    const at = pem.indexOf(end, begin.lastIndex);
    if (at < 0) {
      endless.add(type);
      if (endless.size > MAX_PEM_TYPES) return;
      continue;
    }
    yield { block: pem.slice(beginMatch.index, at + end.length), type };
    begin.lastIndex = at + end.length;
  }
}
const MAX_PEM_TYPES = 16;

/** The error of a text that must hold certificates only. An absent one is valid. */
function certificateFault(pem: string): string | undefined {
  if (pem === '') return undefined;
  let blocks = 0;
  for (const { block, type } of pemBlocks(pem)) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (/^[^\n]*\n[^\n:]+:/.test(block)) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(block);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    blocks++;
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

// ---- changes -----------------------------------------------------------------------------------------------------

export interface Allowed {
  /** The request may be approved or denied. */
  readonly decide?: boolean;
  /** A certificate may be issued. */
  readonly issue?: boolean;
}

export function validateRequestUpdate(allowed: Allowed) {
  return (
    request: CertificateSigningRequest,
    old: CertificateSigningRequest,
    errors: FieldErrors,
    env: KindEnv,
    write: WriteRequest,
  ): void => {
    const isBeta = isBetaRequest(write);
    metadataAgain(request, { namespaced: false, nameRule: pathSegmentName }, errors, env);
    const isSame = equal(request.status.certificate, old.status.certificate);
    validateWith(allowancesOf(old, isBeta, isSame, env), request, errors, env);
    const count = ({ status }: CertificateSigningRequest, conditionType: string): number =>
      (status.conditions ?? []).filter(({ type }) => type === conditionType).length;
    for (const type of decisions)
      if (count(request, type) < count(old, type))
        errors.forbidden(conditionsPath, `updates may not remove a condition of type ${JSON.stringify(type)}`);
    for (const type of allowed.decide ? [] : ['Approved', 'Denied'])
      if (count(request, type) > count(old, type))
        errors.forbidden(conditionsPath, `updates may not add a condition of type ${JSON.stringify(type)}`);
    if (!isSame) {
      if (!allowed.issue) errors.forbidden(certificatePath, 'updates may not set certificate content');
      else if (old.status.certificate !== undefined && !isBeta)
        errors.forbidden(certificatePath, 'updates may not modify existing certificate content');
    }
    metadataUpdateAgain(request, old, errors, env);
  };
}
