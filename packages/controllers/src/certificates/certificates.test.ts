import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonText } from '@plat-dev/lib/json-text';
import { openLog } from '@plat-dev/lib/log';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { makeRequest, newAuthority, newKeyPair, noNames, readAuthority } from '@plat-dev/pki';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeApi, type FakeKind, type Loose, runControllers, type TestRun } from '../testing.ts';
import { certificateApprover } from './approver.ts';
import { certificateCleaner } from './cleaner.ts';
import { certificateSigner, lifeOf } from './signer.ts';

const requests: FakeKind = {
  group: 'certificates.k8s.io',
  version: 'v1',
  name: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
};
const reviews: FakeKind = {
  group: 'authorization.k8s.io',
  version: 'v1',
  name: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};
const { signers } = kubernetes;
const issued = newAuthority('test authority', Date.now());
const authority = readAuthority(issued);
const keys = newKeyPair();
const YEAR = 365 * 24 * 3600;

let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

const openssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
const directory = temporaryDirectory('plat-certificates');
const file = (name: string, content: string | Buffer): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};

interface Wish {
  readonly subject?: { commonName: string; organizations: string[] };
  readonly names?: Partial<typeof noNames>;
  readonly usages?: string[];
  readonly signerName?: string;
  readonly expirationSeconds?: number;
  readonly request?: string;
}
const node = { commonName: 'system:node:n1', organizations: ['system:nodes'] };
const jane = { commonName: 'jane', organizations: ['dev', 'qa'] };
const clientUsages = ['digital signature', 'key encipherment', 'client auth'];
const servingUsages = ['digital signature', 'key encipherment', 'server auth'];

function start(allowed: (subresource: string) => boolean = () => false) {
  const api = new FakeApi([requests, reviews]);
  // The time of the authority is real, so must be that of the server.
  const behind = Date.now() - api.clock.now();
  Object.assign(api.clock, { time: api.clock.now() + behind });
  const asked: Loose[] = [];
  const original = api.request.bind(api);
  api.request = async (request) => {
    if (!request.path.includes('subjectaccessreviews')) return original(request);
    const review = JSON.parse(String(request.body));
    asked.push(review.spec);
    return {
      status: 201,
      body: Buffer.from(jsonText({ ...review, status: { allowed: allowed(review.spec.resourceAttributes.subresource) } })),
    };
  };
  const signer = certificateSigner({ authorityOf: () => authority, durationMs: YEAR * 1000 });
  const lines: string[] = [];
  const log = openLog({ now: () => 0, write: (text) => void lines.push(...text.split('\n').filter((line) => line !== '')) });
  run = runControllers(api, [certificateApprover, signer, certificateCleaner], kubernetes, log);
  const ask = (
    { subject = jane, names = {}, usages = clientUsages, signerName = signers.apiserverClient, expirationSeconds, request }: Wish,
    conditions: Loose[] = [],
  ): void => {
    const pem = request ?? makeRequest(subject, keys, { ...noNames, ...names });
    api.put(requests, {
      metadata: { name: 'r' },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName,
        usages,
        username: 'system:node:n1',
        groups: ['system:nodes'],
        ...(expirationSeconds !== undefined && { expirationSeconds }),
      },
      status: { conditions },
    });
  };
  const approved = (): Loose => ({ type: 'Approved', status: 'True', lastUpdateTime: formatTime(api.clock.now()) });
  const found = (): Loose => api.get(requests, '', 'r');
  const logged = (): string[] => {
    log.flush();
    return lines;
  };
  return { api, run, ask, approved, found, asked, logged };
}
const certificateOf = (found: Loose): X509Certificate => new X509Certificate(Buffer.from(found.status.certificate, 'base64'));
const failureOf = (found: Loose): string | undefined =>
  found.status.conditions.filter((one: Loose) => one.type === 'Failed').map((one: Loose) => `${one.reason}: ${one.message}`)[0];

test('an approved request is signed: subject, key, names, usages and life are those asked for', async () => {
  const { api, run, ask, approved, found } = start();
  ask({ names: { dns: ['jane.test'], addresses: ['10.0.0.1'] }, expirationSeconds: 3600 }, [approved()]);
  await run.idle();
  const certificate = certificateOf(found());
  expect(certificate.subject).toBe('O=dev\nO=qa\nCN=jane');
  expect(certificate.subjectAltName).toBe('DNS:jane.test, IP Address:10.0.0.1');
  expect(certificate.ca).toBe(false);
  expect(certificate.verify(authority.certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(keys.privateKey)).toBe(true);
  expect(Date.parse(certificate.validTo) - api.clock.now()).toBeGreaterThan(3598_000);
  expect(Date.parse(certificate.validTo) - api.clock.now()).toBeLessThanOrEqual(3600_000);
  expect(Math.round((api.clock.now() - Date.parse(certificate.validFrom)) / 60_000)).toBe(5);
});

test.skipIf(!openssl)('openssl accepts what is signed for what it is signed for (skipped without openssl)', async () => {
  const { run, ask, approved, found } = start();
  ask(
    { subject: node, signerName: signers.nodeagentServing, usages: servingUsages, names: { dns: ['n1'], addresses: ['10.0.0.1', '::1'] } },
    [approved()],
  );
  await run.idle();
  const [ca, leaf] = [file('ca.crt', issued.certificate), file('leaf.crt', Buffer.from(found().status.certificate, 'base64'))];
  const verify = (...more: string[]): string =>
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', ca, ...more, leaf]).toString();
  expect(verify('-purpose', 'sslserver', '-verify_hostname', 'n1')).toContain('OK');
  expect(verify('-purpose', 'sslserver', '-verify_ip', '::1')).toContain('OK');
  expect(() => verify('-purpose', 'sslclient')).toThrow();
  const text = execFileSync('openssl', ['x509', '-in', leaf, '-noout', '-text']).toString();
  expect(text).toMatch(/Key Usage: critical\s+Digital Signature, Key Encipherment/);
  expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
});

test.skipIf(!openssl)(
  'requests that openssl makes are understood, with extensions that are not copied (skipped without openssl)',
  async () => {
    const { run, ask, approved, found } = start();
    const key = file('own.key', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const csr = (extension: string): string =>
      execFileSync('openssl', ['req', '-new', '-key', key, '-subj', '/O=dev/CN=jane', '-addext', extension], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString();
    ask({ request: csr('extendedKeyUsage=codeSigning') }, [approved()]);
    await run.idle();
    expect(certificateOf(found()).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    ask({ request: csr('basicConstraints=critical,CA:TRUE') }, [approved()]);
    await run.idle();
    expect(failureOf(found())).toBe('SignerValidationFailure: the CA bit is not allowed');
  },
);

test('a request that nobody approved, that was denied, or that is for another signer is left alone', async () => {
  const { run, ask, approved, found } = start();
  ask({});
  await run.idle();
  expect(found().status.certificate).toBeUndefined();
  ask({}, [approved(), { type: 'Denied', status: 'True' }]);
  await run.idle();
  expect(found().status.certificate).toBeUndefined();
  ask({ signerName: 'example.com/mine' }, [approved()]);
  await run.idle();
  expect(found().status).toEqual({ conditions: [expect.anything()] });
});

describe('what signers refuse', () => {
  const client = { signerName: signers.apiserverClient };
  const agent = { signerName: signers.apiserverClientNodeagent, subject: node };
  const serving = { signerName: signers.nodeagentServing, subject: node, usages: servingUsages, names: { dns: ['n1'] } };
  test.each<[string, Wish, string | undefined]>([
    ['client: any subject', { ...client, subject: { commonName: 'x', organizations: [] } }, undefined],
    ['client: fewer usages', { ...client, usages: ['client auth'] }, undefined],
    ['client: names', { ...client, names: { dns: ['a'], emails: ['a@b.test'], uris: ['spiffe://a'], addresses: ['::1'] } }, undefined],
    ['client: another usage', { ...client, usages: ['client auth', 'server auth'] }, 'invalid usage for client certificate: server auth'],
    [
      'client: the needed usage is missing',
      { ...client, usages: ['digital signature'] },
      'missing required usage for client certificate: client auth',
    ],
    ['agent', agent, undefined],
    ['agent: usages in another order', { ...agent, usages: [...clientUsages].reverse() }, undefined],
    ['agent: another organization', { ...agent, subject: { ...node, organizations: ['dev'] } }, 'subject organization is not system:nodes'],
    [
      'agent: a second organization',
      { ...agent, subject: { ...node, organizations: ['system:nodes', 'system:masters'] } },
      'subject organization is not system:nodes',
    ],
    ['agent: another name', { ...agent, subject: { ...node, commonName: 'n1' } }, 'subject common name does not begin with system:node:'],
    ['agent: DNS names', { ...agent, names: { dns: ['n1'] } }, 'DNS subjectAltNames are not allowed'],
    ['agent: addresses', { ...agent, names: { addresses: ['10.0.0.1'] } }, 'IP subjectAltNames are not allowed'],
    ['agent: emails', { ...agent, names: { emails: ['a@b.test'] } }, 'email subjectAltNames are not allowed'],
    ['agent: URIs', { ...agent, names: { uris: ['spiffe://a'] } }, 'URI subjectAltNames are not allowed'],
    [
      'agent: fewer usages',
      { ...agent, usages: ['client auth', 'digital signature'] },
      'usages did not match [key encipherment digital signature client auth]',
    ],
    ['serving', serving, undefined],
    ['serving: an address alone', { ...serving, names: { addresses: ['10.0.0.1'] } }, undefined],
    ['serving: no name', { ...serving, names: {} }, 'DNS or IP subjectAltName is required'],
    ['serving: emails', { ...serving, names: { dns: ['n1'], emails: ['a@b.test'] } }, 'email subjectAltNames are not allowed'],
    ['serving: URIs', { ...serving, names: { dns: ['n1'], uris: ['spiffe://a'] } }, 'URI subjectAltNames are not allowed'],
    [
      'serving: client usages',
      { ...serving, usages: clientUsages },
      'usages did not match [key encipherment digital signature server auth]',
    ],
    ['legacy: anything', { signerName: signers.legacyUnknown, usages: ['code signing', 'any'], names: { dns: ['a'] } }, undefined],
  ])('%s', async (_what, wish, problem) => {
    const { run, ask, approved, found } = start();
    ask(wish, [approved()]);
    await run.idle();
    expect(failureOf(found())).toBe(problem === undefined ? undefined : `SignerValidationFailure: ${problem}`);
    expect(found().status.certificate === undefined).toBe(problem !== undefined);
  });
});

test.each([
  [undefined, YEAR, YEAR],
  [3600, YEAR, 3600],
  [2 * YEAR, YEAR, YEAR],
  [600, YEAR, 600],
  [1, YEAR, 600],
])('a life of %s seconds within %s is one of %s', (asked, longest, life) => {
  expect(lifeOf(asked, longest * 1000)).toBe(life * 1000);
});

describe('approval of node agents', () => {
  const agent = { signerName: signers.apiserverClientNodeagent, subject: node };
  const conditions = (found: Loose): string[] => found.status.conditions.map((one: Loose) => `${one.type} ${one.reason}: ${one.message}`);

  test('for themselves, where they may', async () => {
    const { run, ask, found, asked } = start((subresource) => subresource === 'selfnodeclient');
    ask(agent);
    await run.idle();
    expect(conditions(found())).toEqual([
      'Approved AutoApproved: Auto approving self kubelet client certificate after SubjectAccessReview.',
    ]);
    expect(found().status.certificate).toBeDefined();
    expect(asked).toEqual([
      {
        user: 'system:node:n1',
        groups: ['system:nodes'],
        resourceAttributes: {
          group: 'certificates.k8s.io',
          resource: 'certificatesigningrequests',
          verb: 'create',
          subresource: 'selfnodeclient',
          version: '*',
        },
      },
    ]);
  });
  test('for other nodes, where they may', async () => {
    const { run, ask, found } = start((subresource) => subresource === 'nodeclient');
    ask({ ...agent, subject: { ...node, commonName: 'system:node:n2' } });
    await run.idle();
    expect(conditions(found())[0]).toBe('Approved AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview.');
  });
  test('not for other nodes by the right to renew their own', async () => {
    const { run, ask, found, asked } = start((subresource) => subresource === 'selfnodeclient');
    ask({ ...agent, subject: { ...node, commonName: 'system:node:n2' } });
    await run.idle();
    expect(conditions(found())).toEqual([]);
    expect(asked.map((spec) => spec.resourceAttributes.subresource)).toEqual(['nodeclient']);
  });
  test('later, when permission comes later', async () => {
    let may = false;
    const { run, ask, found } = start(() => may);
    ask(agent);
    await run.pass(5000);
    expect(conditions(found())).toEqual([]);
    may = true;
    await run.pass(30_000);
    expect(conditions(found())).toHaveLength(1);
  });
  test.each([
    ['another signer', { signerName: signers.apiserverClient, subject: node }],
    ['serving certificates', { signerName: signers.nodeagentServing, subject: node, usages: servingUsages, names: { dns: ['n1'] } }],
    ['what the signer would refuse', { ...agent, subject: { ...node, organizations: ['system:masters'] } }],
  ])('never for %s', async (_what, wish) => {
    const { run, ask, found, asked } = start(() => true);
    ask(wish);
    await run.idle();
    expect([conditions(found()), asked]).toEqual([[], []]);
  });
});

describe('cleaning', () => {
  const HOUR = 3_600_000;
  test.each([
    ['pending', [], 24 * HOUR],
    ['approved', [{ type: 'Approved', status: 'True' }], HOUR],
    ['denied', [{ type: 'Denied', status: 'True' }], HOUR],
    [
      'failed',
      [
        { type: 'Approved', status: 'True' },
        { type: 'Failed', status: 'True' },
      ],
      HOUR,
    ],
  ])('a request that is %s goes in time, and not before', async (_state, conditions, age) => {
    const { api, run, ask, found } = start();
    const lastUpdateTime = formatTime(api.clock.now());
    ask(
      { signerName: 'example.com/mine' },
      conditions.map((condition) => ({ ...condition, lastUpdateTime })),
    );
    await run.pass(age - 2000);
    expect(found()).toBeDefined();
    await run.pass(3000);
    expect(found()).toBeUndefined();
  });
  test('a request goes when its certificate has expired', async () => {
    const { run, ask, approved, found } = start();
    ask({ expirationSeconds: 600 }, [approved()]);
    await run.idle();
    expect(found().status.certificate).toBeDefined();
    await run.pass(598_000);
    expect(found()).toBeDefined();
    await run.pass(3000);
    expect(found()).toBeUndefined();
  });
});

test('a request that is not signed is one line of the log at the default level, one that is signed is none', async () => {
  const { run, ask, approved, found, logged } = start();
  ask({ usages: servingUsages }, [approved()]);
  await run.idle();
  expect(failureOf(found())).toMatch(/^SignerValidationFailure: /);
  expect(logged()).toEqual([
    expect.stringMatching(
      /WARN {2}certificate not signed request=r signer=\S+ user=system:node:n1 reason=SignerValidationFailure message=/,
    ),
  ]);
  ask({}, [approved()]);
  await run.idle();
  expect(found().status.certificate).toBeDefined();
  expect(logged()).toHaveLength(1);
});
