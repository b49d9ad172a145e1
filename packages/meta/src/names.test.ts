import fc from '@plat-dev/lib/testing/fast-check.testing';
import { describe, expect, test } from 'vitest';
import {
  annotationKey,
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  domainPrefixedPath,
  environmentVariableName,
  fullyQualifiedDomainName,
  fullyQualifiedName,
  generatedAlphabet,
  generateName,
  labelValue,
  nameIsLabel,
  nameIsSubdomain,
  pathSegmentName,
  percentage,
  portName,
  portNumber,
  qualifiedName,
  wildcardDns1123Subdomain,
} from './names.ts';

const x = (n: number): string => 'x'.repeat(n);
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const name =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const variable =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
const wildcard =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const tooLong = (n: number): string => `must be no more than ${n} characters`;

type Row = [rule: (text: string) => string[], text: string, ...problems: string[]];
const table: Record<string, Row[]> = {
  'DNS labels': [
    [dns1123Label, 'web-1'],
    [dns1123Label, '1'],
    [dns1123Label, x(63)],
    [dns1123Label, 'dotted.name', label],
    [dns1123Label, 'Upper', label],
    [dns1123Label, '', label],
    [dns1123Label, x(64), tooLong(63)],
    [dns1123Label, 'ü'.repeat(32), tooLong(63), label],
    [dns1035Label, 'a1'],
    [dns1035Label, '1st', dns1035],
    [dns1035Label, x(64), tooLong(63)],
  ],
  'DNS subdomains': [
    [dns1123Subdomain, 'a.b-c.9'],
    [dns1123Subdomain, `${x(64)}.ok`],
    [dns1123Subdomain, 'a..b', subdomain],
    [dns1123Subdomain, '-start', subdomain],
    [dns1123Subdomain, 'end-', subdomain],
    [dns1123Subdomain, 'a\n', subdomain],
    [dns1123Subdomain, x(254), tooLong(253)],
    [wildcardDns1123Subdomain, '*.example.com'],
    [wildcardDns1123Subdomain, '*.*.com', wildcard],
    [fullyQualifiedName, 'a.b.c'],
    [fullyQualifiedName, 'two.parts', 'should be a domain with at least three segments separated by dots'],
    [fullyQualifiedDomainName, 'a.b.'],
    [fullyQualifiedDomainName, 'example', 'should be a domain with at least two segments separated by dots'],
    [domainPrefixedPath, 'acme.io/foo/bar'],
    [domainPrefixedPath, 'no-slash', 'must be a domain-prefixed path (such as "acme.io/foo")'],
    [domainPrefixedPath, 'Acme/x', subdomain],
  ],
  'keys and values of labels': [
    [qualifiedName, 'MyName'],
    [qualifiedName, 'example.com/a_b.c'],
    [qualifiedName, 'bad key', `name part ${name}`],
    [qualifiedName, '/x', 'prefix part must be non-empty'],
    [qualifiedName, '', 'name part must be non-empty', `name part ${name}`],
    [qualifiedName, 'a/', 'name part must be non-empty', `name part ${name}`],
    [qualifiedName, 'bad_/k', `prefix part ${subdomain}`],
    [qualifiedName, 'a/b/c', `a qualified name ${name} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    [qualifiedName, x(64), `name part ${tooLong(63)}`],
    [labelValue, ''],
    [labelValue, 'my_value'],
    [labelValue, '-x', value],
    [labelValue, 'v'.repeat(64), tooLong(63)],
    [annotationKey, 'UPPER.example.com/ok'],
    [annotationKey, 'Bad Key', `name part ${name}`],
  ],
  'keys and variables': [
    [configMapKey, '.hidden'],
    [configMapKey, 'bad key!', configKey],
    [configMapKey, '', configKey],
    [configMapKey, '.', "must not be '.'"],
    [configMapKey, '..', "must not be '..'"],
    [configMapKey, '..x', "must not start with '..'"],
    [configMapKey, x(254), tooLong(253)],
    [environmentVariableName, 'MY_ENV.NAME'],
    [environmentVariableName, '1A', variable],
    [percentage, '25%'],
    [
      percentage,
      '25',
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  'port names': [
    [portName, 'http-2'],
    [portName, '80', 'must contain at least one letter or number (a-z, 0-9)'],
    [portName, 'Bad_Name', 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [portName, 'much-too-long-port-name', tooLong(15)],
    [portName, 'a--b', 'must not contain consecutive hyphens'],
    [portName, '-a', 'must not begin or end with a hyphen'],
  ],
  'names that stand in paths': [
    [pathSegmentName, 'system:Reader_1'],
    [pathSegmentName, '.', "may not be '.'"],
    [pathSegmentName, '..', "may not be '..'"],
    [pathSegmentName, 'a/b%', "may not contain '/'", "may not contain '%'"],
  ],
};

describe.each(Object.entries(table))('%s', (_, rows) => {
  test.each(rows)('%o %j', (rule, text, ...problems) => {
    expect(rule(text)).toEqual(problems);
  });
});

test('port numbers', () => {
  expect(portNumber(1)).toEqual([]);
  expect(portNumber(65535)).toEqual([]);
  expect(portNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
  expect(portNumber(65536)).toEqual(['must be between 1 and 65535, inclusive']);
});

test('a prefix may end with a dash, a name may not', () => {
  expect(nameIsSubdomain('pre-', true)).toEqual([]);
  expect(nameIsSubdomain('pre-')).toEqual([subdomain]);
  expect(nameIsLabel('pre-', true)).toEqual([]);
  expect(nameIsSubdomain('ends.', true)).toEqual([subdomain]);
  expect(pathSegmentName('..', true)).toEqual([]);
});

test('generated names are the prefix, cut to 58 characters, and five of the alphabet', () => {
  expect(generateName('pre-', () => 0)).toBe('pre-bbbbb');
  expect(generateName('pre-', (limit) => limit - 1)).toBe('pre-99999');
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z-]{0,100}$/), fc.infiniteStream(fc.nat()), (prefix, numbers) => {
      const made = generateName(prefix, (limit) => (numbers.next().value as number) % limit);
      expect(made.length).toBeLessThanOrEqual(63);
      expect(prefix.startsWith(made.slice(0, -5))).toBe(true);
      expect([...made.slice(-5)].every((c) => generatedAlphabet.includes(c))).toBe(true);
    }),
  );
});
