import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import type { Template } from '../shared/pod-control.ts';
import { chooseRevision, type Revision, revisionData, sameRevisions, sortRevisions, surplusRevisions, templateIn } from './revision.ts';

const template = (image: string): Template =>
  ({ metadata: { labels: { b: '2', a: '1' } }, spec: { containers: [{ name: 'c', image }] } }) as Template;
const revision = (name: string, number: number, image = name): Revision =>
  ({ metadata: { name }, revision: number, data: atOnce(revisionData(template(image))) }) as Revision;
const names = (revisions: readonly Revision[]): unknown[] => revisions.map(({ metadata }) => metadata.name);

test('the data of a revision replaces the template, with sorted keys', () => {
  const data = atOnce(revisionData(template('x')));
  expect(JSON.stringify(data)).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"1","b":"2"}},"spec":{"containers":[{"image":"x","name":"c"}]}}}}',
  );
  expect(templateIn({ metadata: {}, data, revision: 1 } as unknown as Revision)).toEqual(template('x'));
  expect(templateIn({ metadata: {}, revision: 1 } as unknown as Revision)).toEqual({});
});

test('revisions are sorted by number, then by age and name', () => {
  const at = (name: string, number: number, creationTimestamp: string): Revision =>
    ({ metadata: { name, creationTimestamp }, revision: number }) as Revision;
  const late = at('late', 2, '2024-01-02T00:00:00Z');
  expect(names(sortRevisions([late, at('b', 1, 'x'), at('a', 1, 'x'), at('early', 2, '2024-01-01T00:00:00Z')]))).toEqual([
    'a',
    'b',
    'early',
    'late',
  ]);
});

test('the newest revision stays, an older equal one is used again, and others are new', () => {
  const all = [revision('a', 1), revision('b', 4)];
  const choose = (image: string, of = all): unknown[] => {
    const choice = atOnce(chooseRevision(of, atOnce(revisionData(template(image)))));
    return [choice.use, choice.use === 'new' ? undefined : choice.revision.metadata.name, choice.number];
  };
  expect(choose('b')).toEqual(['newest', 'b', 4]);
  expect(choose('a')).toEqual(['again', 'a', 5]);
  expect(choose('c')).toEqual(['new', undefined, 5]);
  expect(choose('c', [])).toEqual(['new', undefined, 1]);
});

test('data of a large template is made with yields, and so is the choice among many revisions', () => {
  const hostAliases = Array.from({ length: 10_000 }, (_, i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] }));
  const large = { ...template('x'), spec: { ...template('x').spec, hostAliases } } as Template;
  expect([...revisionData(large)].length).toBeGreaterThanOrEqual(50);
  const many = Array.from({ length: 20 }, (_, i) => revision(`r${i}`, i + 1));
  expect([...chooseRevision(many, atOnce(revisionData(large)))]).toHaveLength(20);
  expect([...sameRevisions(many, {})]).toHaveLength(20);
});

test('the oldest revisions that nothing uses go, beyond the limit', () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map((name, i) => revision(name, i + 1));
  const isUsed = ({ metadata }: Revision): boolean => metadata.name === 'b' || metadata.name === 'e';
  const surplus = (limit: number, counted: 'unused' | 'all'): unknown[] => names(surplusRevisions(all, isUsed, limit, counted));
  expect([surplus(3, 'unused'), surplus(1, 'unused'), surplus(0, 'unused')]).toEqual([[], ['a', 'c'], ['a', 'c', 'd']]);
  expect([surplus(5, 'all'), surplus(3, 'all'), surplus(0, 'all')]).toEqual([[], ['a', 'c'], ['a', 'c', 'd']]);
});
