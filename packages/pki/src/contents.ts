/** What certificates contain, read from their bytes where `X509Certificate` does not have it. Nothing here decides whether one is trusted. */
import { X509Certificate } from 'node:crypto';
import { DerError, type Element, read, Tag } from './der.ts';
import { decodeExtensions, decodeSubject, type Extension, type Subject } from './subject-names.ts';

/** All certificates of a PEM text, in order. Other blocks and text between blocks are skipped. */
export function readBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('no certificate found');
  return blocks.map((block) => new X509Certificate(block));
}

interface Contents {
  /** The version is explicit from 2 on. */
  readonly isFirstVersion: boolean;
  readonly subject: Subject;
  readonly extensions: readonly Extension[];
  /** The identifier of the algorithm of its signature. */
  readonly signatureAlgorithm: string;
}
const contentsOf = new WeakMap<X509Certificate, Contents>();

function contents(certificate: X509Certificate): Contents {
  const cachedContents = contentsOf.get(certificate);
  if (cachedContents !== undefined) return cachedContents;
  const [body, algorithm] = read(Buffer.from(certificate.raw)).children();
  const fields = body?.as(Tag.sequence).children() ?? [];
  const isFirstVersion = fields[0]?.tag !== 0xa0;
  const subject: Element | undefined = fields[isFirstVersion ? 4 : 5];
  const [identifier] = algorithm?.as(Tag.sequence).children() ?? [];
  if (subject === undefined || identifier === undefined) throw new DerError('incomplete certificate');
  const list = fields.find((field) => field.tag === 0xa3)?.children()[0];
  const result: Contents = {
    isFirstVersion,
    subject: decodeSubject(subject),
    extensions: list === undefined ? [] : decodeExtensions(list),
    signatureAlgorithm: identifier.oid(),
  };
  contentsOf.set(certificate, result);
  return result;
}

/** The common name and organizations of a certificate. */
export const subjectOf = (certificate: X509Certificate): Subject => contents(certificate).subject;
export const extensionsOf = (certificate: X509Certificate): readonly Extension[] => contents(certificate).extensions;
export const signatureAlgorithmOf = (certificate: X509Certificate): string => contents(certificate).signatureAlgorithm;
export const notAfterOf = (certificate: X509Certificate): number => Date.parse(certificate.validTo);
export const isValidAt = (certificate: X509Certificate, now: number): boolean =>
  Date.parse(certificate.validFrom) <= now && now <= notAfterOf(certificate);

/**
 * Whether a certificate that is configured as a CA can be one. Of version 1 it cannot declare it, and is taken at the word of
 * who configured it; of version 3 it must declare it.
 */
export const canBeRoot = (certificate: X509Certificate): boolean => certificate.ca || contents(certificate).isFirstVersion;
