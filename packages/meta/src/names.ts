/**
 * Validation of names. Each rule returns the errors of a text, in the words of a stock server; an
 * empty list means that the text is valid.
 *
 *   dns1123Label('web-1') → []        dns1123Label('Web') → ["a lowercase RFC 1123 label must consist of …"]
 */
import type { Integer } from '@plat-dev/lib/integers';
export type Problems = string[];

/** The message of a rule with a regular expression, with examples that match it. */
export function regexProblem(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  return `${message} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`;
}
const tooLongProblem = (max: number): string => `must be no more than ${max} characters`;
export const rangeProblem = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;
const emptyProblem = 'must be non-empty';
export const negativeProblem = 'must be greater than or equal to 0';
export const immutableProblem = 'field is immutable';

/** Lengths count bytes of UTF-8. */
const longer = (text: string, max: number): boolean => text.length > max || (text.length * 3 > max && Buffer.byteLength(text) > max);

interface TextRule {
  readonly max?: number;
  readonly regex: RegExp;
  readonly problem: string;
}
function textRule(message: string, pattern: string, examples: string[], max?: number): TextRule {
  const regex = new RegExp(`^(?:${pattern})$`);
  const problem = regexProblem(message, pattern, ...examples);
  return max === undefined ? { regex, problem } : { regex, problem, max };
}
function check(rule: TextRule, text: string): Problems {
  const problems: Problems = [];
  if (rule.max !== undefined && longer(text, rule.max)) problems.push(tooLongProblem(rule.max));
  if (!rule.regex.test(text)) problems.push(rule.problem);
  return problems;
}

// ---- DNS names -------------------------------------------------------------------------------------------------

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;

const dns1123LabelRule = textRule(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelPattern,
  ['my-name', '123-abc'],
  63,
);
const dns1123SubdomainRule = textRule(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainPattern,
  ['example.com'],
  253,
);
/** Search domains may have parts that begin with an underscore. */
const underscoredPattern = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscoredRule = textRule(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  `${underscoredPattern}(\\.${underscoredPattern})*`,
  ['example.com'],
  253,
);
const dns1035LabelRule = textRule(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  ['my-name', 'abc-123'],
  63,
);
const wildcardRule = textRule(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${subdomainPattern}`,
  ['*.example.com'],
  253,
);

export const dns1123Label = (text: string): Problems => check(dns1123LabelRule, text);
export const dns1123Subdomain = (text: string): Problems => check(dns1123SubdomainRule, text);
export const underscoredSubdomain = (text: string): Problems => check(underscoredRule, text);
export const dns1035Label = (text: string): Problems => check(dns1035LabelRule, text);
/** `*.example.com` */
export const wildcardDns1123Subdomain = (text: string): Problems => check(wildcardRule, text);

/** A domain of at least three segments, such as `scheduling.example.com`. The caller must report an empty text as required. */
export function fullyQualifiedName(text: string): Problems {
  const problems = dns1123Subdomain(text);
  if (problems.length > 0) return problems;
  return text.split('.').length < 3 ? ['should be a domain with at least three segments separated by dots'] : [];
}
/** A domain of at least two segments; a dot at the end is allowed. */
export function fullyQualifiedDomainName(text: string): Problems {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const problems = dns1123Subdomain(name);
  if (problems.length > 0) return problems;
  const segments = name.split('.');
  if (segments.length < 2) return ['should be a domain with at least two segments separated by dots'];
  return segments.flatMap(dns1123Label);
}
const httpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
/** `acme.io/foo`: a domain, a slash and a path. */
export function domainPrefixedPath(text: string): Problems {
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  const problems = dns1123Subdomain(text.slice(0, slash));
  if (!httpPath.test(text.slice(slash + 1))) problems.push(regexProblem('Invalid path', "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"));
  return problems;
}

// ---- labels and annotations ------------------------------------------------------------------------------------

const qualifiedRule = textRule(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
  ['MyName', 'my.name', '123-abc'],
);
const labelValueRule = textRule(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
  ['MyValue', 'my_value', '12345'],
  63,
);

/** `name` or `example.com/name`: keys of labels, annotations, resources, finalizers and taints. */
export function qualifiedName(text: string): Problems {
  const problems: Problems = [];
  const slash = text.indexOf('/');
  if (slash !== -1 && text.indexOf('/', slash + 1) !== -1) {
    return [`a qualified name ${qualifiedRule.problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (slash === 0) problems.push(`prefix part ${emptyProblem}`);
  else if (slash > 0) for (const c of dns1123Subdomain(text.slice(0, slash))) problems.push(`prefix part ${c}`);
  const name = slash === -1 ? text : text.slice(slash + 1);
  if (name === '') problems.push(`name part ${emptyProblem}`);
  else if (longer(name, 63)) problems.push(`name part ${tooLongProblem(63)}`);
  if (!qualifiedRule.regex.test(name)) problems.push(`name part ${qualifiedRule.problem}`);
  return problems;
}
export const labelKey = qualifiedName;
export const labelValue = (text: string): Problems => check(labelValueRule, text);
/** Annotation keys are qualified names in which case does not matter. */
export const annotationKey = (text: string): Problems => qualifiedName(text.toLowerCase());
/** Maximum bytes of all annotations of an object, keys and values together. */
export const maxAnnotationBytes = 256 * 1024;

// ---- names of objects ------------------------------------------------------------------------------------------

/** Names that are valid path segments: roles, priority levels … */
export function pathSegmentName(name: string, prefix = false): Problems {
  const problems: Problems = [];
  if (!prefix && name === '.') return ["may not be '.'"];
  if (!prefix && name === '..') return ["may not be '..'"];
  if (name.includes('/')) problems.push("may not contain '/'");
  if (name.includes('%')) problems.push("may not contain '%'");
  return problems;
}
/** A prefix may end with a dash, since characters will follow it. */
const maskTrailingDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

export const nameIsSubdomain = (name: string, prefix = false): Problems => dns1123Subdomain(prefix ? maskTrailingDash(name) : name);
export const nameIsLabel = (name: string, prefix = false): Problems => dns1123Label(prefix ? maskTrailingDash(name) : name);
export const nameIsDns1035Label = (name: string, prefix = false): Problems => dns1035Label(prefix ? maskTrailingDash(name) : name);

/** Characters of generated names: no vowels, so that no words appear, and nothing that is easily confused. */
export const generatedAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
export const generatedLength = 5;
const maxGeneratedBase = 63 - generatedLength;

/** A name from its prefix: the prefix, truncated to 58 characters, and five random ones. `randomBelow(n)` gives a number of 0 to n-1. */
export function generateName(prefix: string, randomBelow: (limit: number) => number): string {
  let name = prefix.length > maxGeneratedBase ? prefix.slice(0, maxGeneratedBase) : prefix;
  for (let i = 0; i < generatedLength; i++) name += generatedAlphabet[randomBelow(generatedAlphabet.length)];
  return name;
}

// ---- keys, ports, variables ------------------------------------------------------------------------------------

const configKeyRule = textRule(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  ['key.name', 'KEY_NAME', 'key-name'],
  253,
);
const variableRule = textRule(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
  ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
);
const headerRule = textRule("a valid HTTP header must consist of alphanumeric characters or '-'", '[-A-Za-z0-9]+', ['X-Header-Name']);
const percentRule = textRule("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', ['1%', '93%']);

/** Names that a shell or a volume would take for a directory. */
function directoryProblems(text: string): Problems {
  if (text === '.') return ["must not be '.'"];
  if (text === '..') return ["must not be '..'"];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}
export const configMapKey = (text: string): Problems => [...check(configKeyRule, text), ...directoryProblems(text)];
export const environmentVariableName = (text: string): Problems => [...check(variableRule, text), ...directoryProblems(text)];
/** Names of variables as later releases allow them: any printable ASCII characters but `=`. */
export function relaxedVariableName(text: string): Problems {
  if (text === '') return ['environment variable name must be non-empty'];
  if (/^[ -<>-~]+$/.test(text)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}
export const httpHeaderName = (text: string): Problems => check(headerRule, text);
/** `25%` */
export const percentage = (text: string): Problems => check(percentRule, text);

const inRange = (n: Integer, low: number, high: number): Problems => (n >= low && n <= high ? [] : [rangeProblem(low, high)]);
export const portNumber = (port: number): Problems => inRange(port, 1, 65535);
const maxInt32 = 2 ** 31 - 1;
/** User and group ids of processes. */
export const userOrGroupId = (id: Integer): Problems => inRange(id, 0, maxInt32);

/** Names of ports, after IANA's rule for service names: at most 15 characters, at least one letter, no double dash. */
export function portName(text: string): Problems {
  const problems: Problems = [];
  if (longer(text, 15)) problems.push(tooLongProblem(15));
  if (!/^[-a-z0-9]+$/.test(text)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter or number (a-z, 0-9)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}
