import { TransportError } from '@plat-dev/client/http';
import { FlagError } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { asCalled, errorLine, exitCodeOf, fieldManager, userAgent } from './program.ts';

const plat = { program: 'plat' } as const;
const kubectl = { program: 'kubectl' } as const;

test('failures as each program reports them', () => {
  const notFound = new ApiError(404, 'NotFound', 'pods "a" not found');
  expect(errorLine(notFound, plat)).toBe('plat: pods "a" not found (NotFound)\n');
  expect(errorLine(notFound, kubectl)).toBe('Error from server (NotFound): pods "a" not found\n');
  expect(errorLine(notFound, kubectl, 'error when deleting "a.yaml"')).toBe(
    'Error from server (NotFound): error when deleting "a.yaml": pods "a" not found\n',
  );
  expect(errorLine(new ApiError(502, '', 'the server answered 502'), kubectl)).toBe('Error from server: the server answered 502\n');
  expect(errorLine(new ApiError(401, 'Unauthorized', 'Unauthorized'), kubectl)).toBe(
    'error: You must be logged in to the server (Unauthorized)\n',
  );
  expect(errorLine(new FlagError('unknown flag --x'), kubectl)).toBe('error: unknown flag --x\n');
  expect(errorLine(new Error('error: once'), kubectl)).toBe('error: once\n');
  const refused = new TransportError('no server answers', 'ECONNREFUSED', undefined, 'https://127.0.0.1:6443');
  expect(errorLine(refused, kubectl)).toBe(
    'The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?\n',
  );
  expect(errorLine(new TransportError('late', 'ETIMEDOUT', undefined), kubectl)).toBe('Unable to connect to the server: late\n');
});

test('messages about pods that nothing runs say so, as plat', () => {
  const noAddress = new ApiError(503, 'ServiceUnavailable', 'no preferred addresses found; known addresses: []');
  expect(errorLine(noAddress, plat)).toContain('(ServiceUnavailable); the node of the pod has no address: no node agent runs there\n');
  expect(errorLine(noAddress, kubectl)).toBe('Error from server (ServiceUnavailable): no preferred addresses found; known addresses: []\n');
  const noNode = new ApiError(400, 'BadRequest', 'pod web does not have a host assigned');
  expect(errorLine(noNode, plat)).toContain('(BadRequest); the pod is on no node: no scheduler has placed it\n');
});

test('an invalid object is reported with its causes', () => {
  const causes = [
    { field: 'spec.a', message: 'Required value' },
    { field: 'spec.b', message: 'Invalid value: 3' },
  ];
  const invalid = (count: number): ApiError =>
    new ApiError(422, 'Invalid', 'Pod "a" is invalid', { kind: 'Pod', name: 'a', causes: causes.slice(0, count) });
  expect(errorLine(invalid(0), kubectl)).toBe('The Pod "a" is invalid\n');
  expect(errorLine(invalid(1), kubectl)).toBe('The Pod "a" is invalid: spec.a: Required value\n');
  expect(errorLine(invalid(2), kubectl)).toBe('The Pod "a" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: 3\n');
  expect(errorLine(invalid(2), plat)).toBe('plat: Pod "a" is invalid (Invalid)\n');
});

test('exit codes', () => {
  expect([exitCodeOf(new FlagError(''), plat), exitCodeOf(new FlagError(''), kubectl)]).toEqual([2, 1]);
  expect([exitCodeOf(new Error(''), plat), exitCodeOf(new Error(''), kubectl)]).toEqual([1, 1]);
});

test('field managers', () => {
  expect([fieldManager(plat, 'create'), fieldManager(kubectl, 'create')]).toEqual(['plat', 'kubectl-create']);
  expect(fieldManager(kubectl, 'apply')).toBe('kubectl-client-side-apply');
  expect(fieldManager(kubectl, 'apply --server-side')).toBe('kubectl');
  expect(fieldManager(kubectl, 'label', 'mine')).toBe('mine');
});

test('the server takes the name of the program from the user agent', () => {
  expect(userAgent(plat)).toMatch(/^plat\/\d/);
  expect(userAgent(kubectl)).toMatch(/^kubectl\/v1\.24\.\d+ /);
});

test('texts name the program as it was called', () => {
  const text = 'plat get pods; `plat up` starts one (plat help config): the plat server. Names of plat.dev stay.';
  expect(asCalled(text, plat)).toBe(text);
  expect(asCalled(text, kubectl)).toBe(
    'kubectl get pods; `kubectl up` starts one (kubectl help config): the kubectl server. Names of plat.dev stay.',
  );
});
