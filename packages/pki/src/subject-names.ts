/** Subject names and alternative names of certificates and requests. */
import { isIP } from 'node:net';
import { DerError, type Element, element, implicit, oid, sequence, set, Tag, utf8 } from './der.ts';

const commonNameOid = '2.5.4.3';
const organizationOid = '2.5.4.10';
/** Stock clusters put the uid of a user under this type. */
const uidOid = '1.3.6.1.4.1.57683.2';

/** The parts of a subject that the server uses: the user name and the groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Those of the user, of which there should be one; absent: none. */
  readonly uids?: readonly string[];
}

export function encodeSubject(subject: Subject): Buffer {
  const attribute = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...subject.organizations.map((name) => attribute(organizationOid, name)),
    ...(subject.commonName === '' ? [] : [attribute(commonNameOid, subject.commonName)]),
    ...(subject.uids ?? []).map((uid) => attribute(uidOid, uid)),
  );
}

/** Parses a name; of several common names the last one counts, as in a stock server. */
export function decodeSubject(name: Element): Subject {
  let commonName = '';
  const organizations: string[] = [];
  const uids: string[] = [];
  for (const { type, value } of attributes(name)) {
    if (type === commonNameOid) commonName = value.text();
    else if (type === organizationOid) organizations.push(value.text());
    // What is no text is no uid.
    else if (type === uidOid) uids.push(value.isText ? value.text() : '');
  }
  return { commonName, organizations, ...(uids.length > 0 && { uids }) };
}
function* attributes(name: Element): Generator<{ readonly type: string; readonly value: Element }> {
  for (const relative of name.as(Tag.sequence).children()) {
    for (const attribute of relative.as(Tag.set).children()) {
      const [type, value] = attribute.as(Tag.sequence).children();
      if (type === undefined || value === undefined) throw new DerError('incomplete name');
      yield { type: type.oid(), value };
    }
  }
}

/** The texts of a name by the identifiers of their types: `2.5.4.10` → organizations. Values that are not texts are left out. */
export function decodeTexts(name: Element): ReadonlyMap<string, readonly string[]> {
  const textsByType = new Map<string, string[]>();
  for (const { type, value } of attributes(name)) {
    if (!value.isText) continue;
    const texts = textsByType.get(type) ?? [];
    texts.push(value.text());
    textsByType.set(type, texts);
  }
  return textsByType;
}

export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
}
export const noNames: AlternativeNames = { dns: [], addresses: [], emails: [], uris: [] };
export const isEmpty = (names: AlternativeNames): boolean =>
  names.dns.length + names.addresses.length + names.emails.length + names.uris.length === 0;

/** Four or sixteen bytes of an address as text. */
export function addressBytes(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split('.').map(Number));
  if (isIP(text) !== 6) throw new DerError(`not an IP address: ${text}`);
  let address = text.split('%')[0] as string;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  if (dotted !== null) {
    const four = addressBytes(dotted[2] as string);
    address = `${dotted[1]}${four.readUInt16BE(0).toString(16)}:${four.readUInt16BE(2).toString(16)}`;
  }
  const [head = '', tail] = address.split('::');
  const leftGroups = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - leftGroups.length - right.length;
  const words = [...leftGroups, ...new Array<string>(zeros).fill('0'), ...right];
  const bytes = Buffer.alloc(16);
  words.forEach((word, i) => {
    bytes.writeUInt16BE(Number.parseInt(word, 16), i * 2);
  });
  return bytes;
}

/** Text of four or sixteen bytes, without shortening runs of zeros. */
export function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError('address of odd length');
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':');
}

export function encodeAlternativeNames(names: AlternativeNames): Buffer {
  const text = (n: number) => (value: string) => implicit(n, Buffer.from(value, 'latin1'));
  return sequence(
    ...names.dns.map(text(2)),
    ...names.emails.map(text(1)),
    ...names.addresses.map((address) => implicit(7, addressBytes(address))),
    ...names.uris.map(text(6)),
  );
}

export function decodeAlternativeNames(names: Element): AlternativeNames {
  const decodedNames = { dns: [] as string[], addresses: [] as string[], emails: [] as string[], uris: [] as string[] };
  for (const name of names.as(Tag.sequence).children()) {
    if (name.tag === 0x81) decodedNames.emails.push(name.content.toString('latin1'));
    else if (name.tag === 0x82) decodedNames.dns.push(name.content.toString('latin1'));
    else if (name.tag === 0x86) decodedNames.uris.push(name.content.toString('latin1'));
    else if (name.tag === 0x87) decodedNames.addresses.push(addressText(name.content));
  }
  return decodedNames;
}

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

export function decodeExtensions(list: Element): Extension[] {
  return list
    .as(Tag.sequence)
    .children()
    .map((extension) => {
      const [type, second, third] = extension.as(Tag.sequence).children();
      const value = third ?? second;
      if (type === undefined || value === undefined) throw new DerError('incomplete extension');
      const critical = third !== undefined && second?.as(Tag.boolean).content[0] !== 0;
      return { oid: type.oid(), critical, value: value.as(Tag.octetString).content };
    });
}

export const encodeExtension = (extension: Extension): Buffer =>
  sequence(
    oid(extension.oid),
    ...(extension.critical ? [element(Tag.boolean, Buffer.from([0xff]))] : []),
    element(Tag.octetString, extension.value),
  );

export const extensionOids = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;
