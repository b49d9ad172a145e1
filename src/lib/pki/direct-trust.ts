/**
 * Trust in a server whose certificate was issued by a CA of the client configuration itself, without intermediates. Commands
 * check this common case here, because as soon as a connection has a CA, Node 20 parses all of its own root certificates, which
 * takes a quarter of a short command.
 *
 *   CA of the file (self-signed) → certificate of the server      true
 *   CA of the file → intermediate → certificate of the server     false: OpenSSL decides
 *   a refused certificate, or an unusual one                      false: OpenSSL decides
 *
 * Everything that is accepted here is accepted by OpenSSL, too. Every rule is as strict as there or stricter; algorithms, extensions and
 * forms that are not listed are left to OpenSSL. `false` is no refusal: the caller connects again, and lets OpenSSL decide.
 */
import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import { DerError, type Element, read, Tag } from './der.ts';
import { type Extension, extensionOids } from './subject-names.ts';
import { extendedUsageOids, keyUsageBits } from './usages.ts';

/** CA files have one certificate, or two while it is replaced. */
const MAX_AUTHORITIES = 8;
/** Characters of such a file; a large one would take the pattern below too long. */
export const MAX_BUNDLE = MAX_AUTHORITIES * 8192;
/** A certificate of the usual form, as far as it is checked. */
interface PlainCertificate {
  readonly certificate: X509Certificate;
  /** DER of the names. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  /** Bits of the key usage; undefined: any. */
  readonly usage: ReadonlySet<number> | undefined;
  /** Undefined: any. */
  readonly extendedUsages: readonly string[] | undefined;
}

/** Nothing but certificates: a text between them may mean something to OpenSSL. */
const bundleForm = /^(?:-----BEGIN CERTIFICATE-----\r?\n(?:[A-Za-z0-9+/]+={0,2}\r?\n)+-----END CERTIFICATE-----(?:\r?\n)*)+$/;

/** The certificates of a CA file; undefined: the file is not of the usual form. */
export function directAuthorities(pem: string): readonly X509Certificate[] | undefined {
  if (pem.length > MAX_BUNDLE || !bundleForm.test(pem)) return undefined;
  const blocks = pem.split(/(?<=-----END CERTIFICATE-----)(?:\r?\n)*/).filter((block) => block !== '');
  if (blocks.length > MAX_AUTHORITIES) return undefined;
  try {
    const certificates = blocks.map((block) => new X509Certificate(block));
    return certificates.every((one, i) => one.raw.equals(bytesOf(blocks[i] as string))) ? certificates : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL reads what follows a certificate in its block as settings, which may say that it is not trusted. */
const bytesOf = (block: string): Buffer => Buffer.from(block.replace(/-----[A-Z ]+-----/g, ''), 'base64');

/** Whether one of the authorities issued the certificate for a server of this name, and it is valid now. */
export function isTrustedDirectly(server: X509Certificate, authorities: readonly X509Certificate[], name: string, now: number): boolean {
  try {
    const leaf = plainForm(server);
    // Of two with the same name OpenSSL may choose either; capitals and spaces make no difference to it.
    const issuers = authorities.filter((one) => subjectOf(one).equals(leaf.issuer) || server.checkIssued(one));
    const [issuer] = issuers;
    if (issuer === undefined || issuers.length > 1) return false;
    const authority = plainForm(issuer);
    return (
      isUsable(leaf, now) &&
      isUsable(authority, now) &&
      isServer(leaf) &&
      isRoot(authority) &&
      isIssuedBy(leaf, authority) &&
      // It is trusted because it is in the file, so that its own signature proves nothing more.
      issuer.checkIssued(issuer) &&
      checkServerIdentity(name, server.toLegacyObject()) === undefined &&
      areStrong([server, issuer])
    );
  } catch {
    // Not of the usual form.
    return false;
  }
}

/**
 * Whether keys and digests are as strong as the security level of OpenSSL requires. A file of the system may have raised it, which
 * only a context shows that these certificates are added to: it checks them as it would those of a server.
 */
export function areStrong(chain: readonly X509Certificate[], ciphers?: string): boolean {
  try {
    createSecureContext({ cert: chain.map(String).join(''), ca: [], ...(ciphers !== undefined && { ciphers }) });
    return true;
  } catch {
    return false;
  }
}

/** Valid from the first to before the last second, as OpenSSL counts; and for servers. */
const isUsable = ({ notBefore, notAfter, extendedUsages }: PlainCertificate, now: number): boolean =>
  notBefore <= now && now < notAfter && (extendedUsages === undefined || extendedUsages.includes(extendedUsageOids.serverAuth));

const isServer = ({ isAuthority, usage, issuer, subject, certificate }: PlainCertificate): boolean =>
  !isAuthority &&
  !certificate.ca &&
  !issuer.equals(subject) &&
  (usage === undefined || usage.has(keyUsageBits.digitalSignature) || usage.has(keyUsageBits.keyEncipherment));

const isRoot = ({ isAuthority, usage, issuer, subject, certificate }: PlainCertificate): boolean =>
  isAuthority && certificate.ca && issuer.equals(subject) && (usage === undefined || usage.has(keyUsageBits.certSign));

/** Names and key identifiers match, and the signature is right. */
const isIssuedBy = (one: PlainCertificate, issuer: PlainCertificate): boolean =>
  one.issuer.equals(issuer.subject) &&
  one.certificate.checkIssued(issuer.certificate) &&
  one.certificate.verify(issuer.certificate.publicKey);

// ---- the usual form ----------------------------------------------------------------------------------------------

const VERSION_3 = Buffer.from([0x02, 0x01, 0x02]);

function fieldsOf(certificate: X509Certificate): { readonly fields: readonly Element[]; readonly algorithm: Element } {
  const [body, algorithm, signature, ...more] = read(Buffer.from(certificate.raw)).as(Tag.sequence).children();
  if (body === undefined || algorithm === undefined || signature === undefined || more.length > 0) throw unusual();
  return { fields: body.as(Tag.sequence).children(), algorithm };
}
const unusual = (): DerError => new DerError('not of the usual form');

function subjectOf(certificate: X509Certificate): Buffer {
  const { fields } = fieldsOf(certificate);
  return (fields[5] as Element | undefined)?.raw ?? Buffer.alloc(0);
}

/** Throws for what is unusual: another version than 3, unique identifiers, other algorithms, keys or extensions. */
function plainForm(certificate: X509Certificate): PlainCertificate {
  const { fields, algorithm: outer } = fieldsOf(certificate);
  const [version, serial, algorithm, issuer, validity, subject, key, wrapper, ...more] = fields;
  if (version?.tag !== 0xa0 || !version.content.equals(VERSION_3) || serial?.tag !== Tag.integer || more.length > 0) throw unusual();
  if (issuer?.tag !== Tag.sequence || subject?.tag !== Tag.sequence || issuer.content.length === 0 || subject.content.length === 0)
    throw unusual();
  if (algorithm === undefined || key === undefined || wrapper?.tag !== 0xa3) throw unusual();
  checkAlgorithm(algorithm);
  if (!algorithm.raw.equals(outer.raw)) throw unusual();
  checkKey(key, certificate);
  const [from, to, ...times] = validity?.as(Tag.sequence).children() ?? [];
  if (from === undefined || to === undefined || times.length > 0) throw unusual();
  const [list, ...lists] = wrapper.children();
  if (list === undefined || lists.length > 0) throw unusual();
  const extensions = extensionsOf(list);
  return {
    certificate,
    issuer: issuer.raw,
    subject: subject.raw,
    notBefore: timeOf(from),
    notAfter: timeOf(to),
    isAuthority: isAuthority(extensions),
    usage: usageOf(extensions),
    extendedUsages: extendedUsagesOf(extensions),
  };
}

/** ECDSA and RSA with SHA-256, SHA-384 and SHA-512. */
const ecdsa: ReadonlySet<string> = new Set(['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4']);
const rsa: ReadonlySet<string> = new Set(['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.12', '1.2.840.113549.1.1.13']);

function checkAlgorithm(algorithm: Element): void {
  const [type, parameter, ...more] = algorithm.as(Tag.sequence).children();
  const id = type?.oid() ?? '';
  const isKnown = ecdsa.has(id) ? parameter === undefined : rsa.has(id) && isNull(parameter);
  if (!isKnown || more.length > 0) throw unusual();
}
const isNull = (parameter: Element | undefined): boolean => parameter?.tag === 0x05 && parameter.content.length === 0;

const EC_KEY = '1.2.840.10045.2.1';
/** P-256, P-384 and P-521. */
const curves: ReadonlySet<string> = new Set(['1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']);
const RSA_KEY = '1.2.840.113549.1.1.1';
const LEAST_RSA_BITS = 2048;
const MOST_RSA_BITS = 8192;

function checkKey(key: Element, certificate: X509Certificate): void {
  const [algorithm] = key.as(Tag.sequence).children();
  const [type, parameter, ...more] = algorithm?.as(Tag.sequence).children() ?? [];
  const id = type?.oid();
  if (more.length > 0) throw unusual();
  if (id === EC_KEY && parameter?.tag === Tag.oid && curves.has(parameter.oid())) return;
  const { modulusLength = 0 } = id === RSA_KEY && isNull(parameter) ? (certificate.publicKey.asymmetricKeyDetails ?? {}) : {};
  if (modulusLength < LEAST_RSA_BITS || modulusLength > MOST_RSA_BITS) throw unusual();
}

function timeOf({ tag, content }: Element): number {
  const text = content.toString('latin1');
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null) throw unusual();
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  if (tag !== (text.length === 13 ? Tag.utcTime : Tag.generalizedTime)) throw unusual();
  // Two digits count from 1950 to 2049.
  const whole = text.length === 13 ? (year < 50 ? 2000 + year : 1900 + year) : year;
  const date = new Date(0);
  date.setUTCFullYear(whole, month - 1, day);
  date.setUTCHours(hour, minute, second);
  // The 31st of February and the like.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) throw unusual();
  return date.getTime();
}

const knownExtensions: ReadonlySet<string> = new Set(Object.values(extensionOids));
/** These must not be critical; OpenSSL before 3.0 does not accept them so. */
const neverCritical: ReadonlySet<string> = new Set([extensionOids.subjectKeyId, extensionOids.authorityKeyId]);

function extensionsOf(list: Element): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>();
  for (const entry of list.as(Tag.sequence).children()) {
    const parts = entry.as(Tag.sequence).children();
    const [type, second, third] = parts;
    const value = parts.length === 3 ? third : second;
    if (type === undefined || value === undefined || parts.length > 3) throw unusual();
    if (parts.length === 3 && !isTrue(second as Element)) throw unusual();
    const extension = { oid: type.oid(), critical: parts.length === 3, value: value.as(Tag.octetString).content };
    if (!knownExtensions.has(extension.oid) || found.has(extension.oid)) throw unusual();
    if (extension.critical && neverCritical.has(extension.oid)) throw unusual();
    found.set(extension.oid, extension);
  }
  return found;
}
const isTrue = ({ tag, content }: Element): boolean => tag === Tag.boolean && content.length === 1 && content[0] === 0xff;

/** Any path length will do: there is nothing between the authority and the server. */
function isAuthority(extensions: ReadonlyMap<string, Extension>): boolean {
  const constraints = extensions.get(extensionOids.basicConstraints);
  if (constraints === undefined) return false;
  const [flag, length, ...more] = read(constraints.value).as(Tag.sequence).children();
  if (flag === undefined) return false;
  const isLength =
    length === undefined || (length.tag === Tag.integer && length.content.length === 1 && (length.content[0] as number) < 0x80);
  if (!isTrue(flag) || !isLength || more.length > 0) throw unusual();
  return true;
}

function usageOf(extensions: ReadonlyMap<string, Extension>): ReadonlySet<number> | undefined {
  const usage = extensions.get(extensionOids.keyUsage);
  if (usage === undefined) return undefined;
  const { content } = read(usage.value).as(Tag.bitString);
  const [unused = 8, ...bytes] = content;
  if (unused > 7 || bytes.length < 1 || bytes.length > 2) throw unusual();
  const bits = new Set<number>();
  for (let i = 0; i < bytes.length * 8 - unused; i++) if (((bytes[i >> 3] as number) & (0x80 >> (i & 7))) !== 0) bits.add(i);
  return bits;
}

function extendedUsagesOf(extensions: ReadonlyMap<string, Extension>): readonly string[] | undefined {
  const usages = extensions.get(extensionOids.extendedKeyUsage);
  return (
    usages &&
    read(usages.value)
      .as(Tag.sequence)
      .children()
      .map((usage) => usage.oid())
  );
}
