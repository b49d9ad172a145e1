/**
 * `?history=true` on an object or a collection: the versions that are kept, newest first, with who made them and what they changed.
 * It needs the verb `history` on the resource besides `get` or `list`.
 */
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { microTimeOf } from '@plat-dev/lib/time';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, methodNotAllowed } from '@plat-dev/meta/errors';
import { groupName } from '@plat-dev/meta/identity';
import { type ChangeOperation, jsonDiff } from '@plat-dev/patch';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import { checkMayReadHistory, servesHistory } from '../history/access.ts';
import { historyBody, type ShownVersion } from '../history/body.ts';
import { changeText } from '../history/change-text.ts';
import { type KeptDocument, wholeObject } from '../history/document.ts';
import { Documents } from '../history/documents.ts';
import { type HistoryEntry, type HistoryPlace, historyPage } from '../history/page.ts';
import { inPageTurn } from '../history/page-turns.ts';
import { type HistoryQuery, historyForm, readHistoryQuery } from '../history/query.ts';
import { historyToken } from '../history/tokens.ts';
import type { Resource } from '../registry/catalog.ts';
import { isKeyOf } from '../registry/context.ts';
import { missing } from '../registry/unreadable.ts';
import type { Representation } from '../request/negotiate.ts';
import { send } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { isPretty } from './read.ts';

export const asksHistory = ({ registry }: Services, ctx: Context): boolean =>
  ctx.search !== '' && ctx.method === 'GET' && !isProxied(ctx) && servesHistory(registry.catalog) && historyForm(ctx) !== undefined;
/** The query of a proxied request is that of the program behind it. */
const isProxied = ({ info }: Context): boolean => info.subresource === 'proxy';

const offer = { protobuf: true, transforms: ['Table'] as const, list: true };

export async function sendHistory(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { registry } = services;
  const { info } = ctx;
  if (info.verb === 'watch') throw badRequest('history cannot be watched');
  if (info.subresource !== '') throw badRequest('subresources have no history of their own: ask for that of the object');
  const { collection } = resource;
  if (collection === undefined) throw methodNotAllowed(resource.resource, 'history');
  const representation = services.negotiator.negotiate(ctx.header('accept'), offer);
  await checkMayReadHistory(services, ctx);
  const place = placeOf(resource, collection.prefix, info);
  const body = await inPageTurn(registry.cache, ctx, () => historyPageBody(services, ctx, resource, place, representation));
  send(ctx, 200, representation.type, body);
}

async function historyPageBody(
  services: Services,
  ctx: Context,
  resource: Resource,
  place: HistoryPlace,
  representation: Representation,
): Promise<Buffer> {
  const { registry, identity } = services;
  const { info } = ctx;
  const query = readHistoryQuery(ctx, place.prefix);
  const slices = new Slices(() => ctx.ended, undefined, ctx.owner);
  // Before the page is read: who goes on from there misses nothing.
  if (!registry.cache.engine.exclusive) await registry.cache.freshen();
  const { revision } = registry.cache;
  const { entries, next } = await historyPage(registry.cache.engine.history, place, query, slices);
  const isUnknown = info.named && entries.length === 0 && next === undefined && !(await isKept(services, place, query));
  if (isUnknown) throw missing({ resource, namespace: info.namespace, name: info.name });
  const shown: ShownVersion[] = [];
  const documents = new Documents(registry.history, resource, entries, query.full, slices);
  for (const entry of entries) {
    shown.push(await shownVersion(documents, resource, entry));
    if (slices.due) await slices.pause();
  }
  const metadata = {
    resourceVersion: String(revision),
    ...(next !== undefined && { continue: historyToken(next, place.prefix) }),
  };
  const apiVersion = joinApiVersion(groupName(identity, explainGroup), 'v1alpha1');
  const history = { kind: 'ObjectHistory', apiVersion, metadata, versions: shown };
  return historyBody(history, registry.env.now(), representation, isPretty(ctx, representation), slices);
}

function placeOf(resource: Resource, prefix: string, { named, name, namespace }: Context['info']): HistoryPlace {
  const inNamespace = resource.kind.namespaced && namespace !== '' ? `${prefix}${namespace}/` : prefix;
  const isOf = (key: string): boolean => isKeyOf(resource, key);
  return named ? { prefix: inNamespace + name, exact: true, isOf } : { prefix: inNamespace, exact: false, isOf };
}

/** Whether anything is kept of one object: filters may have left nothing. */
async function isKept({ registry }: Services, { prefix, exact }: HistoryPlace, query: HistoryQuery): Promise<boolean> {
  if (query.before !== undefined) return true;
  return (await registry.cache.engine.history.versions({ prefix, exact, limit: 1 })).versions.length > 0;
}

async function shownVersion(documents: Documents, resource: Resource, { version, note, replaced }: HistoryEntry): Promise<ShownVersion> {
  const { key, revision, created, time } = version;
  const { namespace, name } = nameOf(resource, key);
  const document = version.type === 'delete' ? undefined : await documents.of(version);
  const earlier = document === undefined || replaced === undefined ? undefined : await documents.of(replaced);
  const isFirst = created === revision;
  const isRestored = isFirst && uidOf(document) !== undefined && uidOf(document) === uidOf(earlier);
  const type = document === undefined ? 'deleted' : isFirst && !isRestored ? 'created' : 'updated';
  const changed =
    type === 'updated' && document !== undefined ? await changeOf(documents.slices, document, earlier, isSecrets(resource)) : undefined;
  const change = isRestored && changed?.patch?.length === 0 ? 'restored from a backup' : changed?.text;
  const isUnnoted = note === undefined && !isRestored;
  const parts = document !== undefined && 'object' in document ? document : undefined;
  const origin = note?.origin;
  // Fields that are undefined are left out when the version is written.
  const shown = {
    name,
    namespace: namespace || undefined,
    uid: uidOf(document),
    resourceVersion: String(revision),
    time: time > 0 ? microTimeOf(time) : undefined,
    type,
    user: note?.user || undefined,
    impersonator: origin?.impersonator || undefined,
    userAgent: origin?.userAgent || undefined,
    verb: origin?.verb || undefined,
    subresource: origin?.subresource || undefined,
    fieldManager: note?.manager || undefined,
    auditID: origin?.auditId || undefined,
    patch: changed?.patch,
    object: documents.areWhole && parts !== undefined ? wholeObject(parts, version) : undefined,
    withoutValues: parts?.withoutValues,
    change,
    reason: document !== undefined && 'reason' in document ? document.reason : isUnnoted ? NOT_NOTED : changed?.reason,
  };
  return { version: shown as unknown as JsonObject, time, change: change ?? type };
}

const uidOf = (document: KeptDocument | undefined): string | undefined =>
  document !== undefined && 'object' in document ? (document.object.metadata as { uid?: string } | undefined)?.uid : undefined;

/** On etcd a server without history notes nothing. */
const NOT_NOTED = 'who wrote it is not known: no history of it was kept then';

function nameOf({ kind, collection }: Resource, key: string): { namespace: string; name: string } {
  const own = key.slice(collection?.prefix.length);
  const slash = own.indexOf('/');
  return kind.namespaced ? { namespace: own.slice(0, slash), name: own.slice(slash + 1) } : { namespace: '', name: own };
}

const isSecrets = ({ kind }: Resource): boolean => kind.group === '' && kind.plural === 'secrets';

interface Change {
  readonly patch?: readonly ChangeOperation[];
  readonly text?: string;
  readonly reason?: string;
}
async function changeOf(slices: Slices, document: KeptDocument, earlier: KeptDocument | undefined, isSecret: boolean): Promise<Change> {
  if (earlier === undefined) return { reason: 'the version before is not kept' };
  if ('reason' in earlier) return { reason: `the version before: ${earlier.reason}` };
  if ('reason' in document) return {};
  const patch = await inSlices(jsonDiff(earlier.object, document.object), slices);
  const isUnseen = patch.length === 0 && document.withoutValues === true;
  return { patch, text: isUnseen ? 'values that are not kept' : changeText(patch, earlier.object, isSecret) };
}
