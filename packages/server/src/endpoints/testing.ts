/** A context without a socket, and what was answered to it: for tests of endpoints. */

import { builtinKinds } from '@plat-dev/kinds';
import { defaultFeatures } from '@plat-dev/kinds/feature-gates';
import { releaseEnv } from '@plat-dev/kinds/kind';
import { systemClock } from '@plat-dev/lib/clock';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import { kubernetes } from '@plat-dev/meta/identity';
import { Cache } from '@plat-dev/storage/cache';
import type { Engine } from '@plat-dev/storage/engine';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { Context } from '../context.ts';
import { Catalog } from '../registry/catalog.ts';
import { Negotiator } from '../request/negotiate.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Services } from '../services.ts';
import type { Endpoint } from './endpoint.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  text: string;
}

/** Asks an endpoint; errors are thrown as they would be to the pipeline. */
export async function ask(endpoint: Endpoint, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const answer: Answer = { status: 0, headers: {}, body: Buffer.alloc(0), text: '' };
  const chunks: Buffer[] = [];
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const res = {
    destroyed: false,
    writableEnded: false,
    headersSent: false,
    writeHead(status: number, all: string[]) {
      answer.status = status;
      for (let i = 0; i < all.length; i += 2) answer.headers[(all[i] as string).toLowerCase()] = all[i + 1] as string;
    },
    write(chunk: Buffer) {
      chunks.push(chunk);
      return true;
    },
    end(chunk?: Buffer | string) {
      if (chunk !== undefined) chunks.push(Buffer.from(chunk));
      finish();
    },
  };
  const req = { method, url: path, httpVersionMajor: 1, headers, rawHeaders: [] };
  const ctx = new Context(req as never, res as never, 0);
  ctx.headers.push('Cache-Control', 'no-cache, private');
  ctx.info = requestInfo(ctx.method, ctx.path, (name) => ctx.param(name));
  ctx.user = { name: 'admin', groups: ['system:masters'] };
  await endpoint(ctx);
  await finished;
  answer.body = Buffer.concat(chunks);
  answer.text = answer.body.toString();
  return answer;
}

export interface TestServices {
  readonly services: Services;
  readonly catalog: Catalog;
  readonly engine: Engine;
}

/** The built-in kinds over a store in memory; nothing but what endpoints use. */
export async function testServices(
  identity: Identity = kubernetes,
  feature: (name: string) => boolean = (name) => defaultFeatures.isOn(name),
  release?: ApiRelease,
): Promise<TestServices> {
  const engine = openMemoryEngine();
  const cache = new Cache(engine, systemClock, (error) => {
    throw error;
  });
  const catalog = new Catalog(identity, cache, feature, release);
  catalog.declare(builtinKinds(identity, 'all'), () => true);
  await cache.start();
  const env = { ...releaseEnv(release), identity, now: () => 0, feature, allowPrivileged: true };
  const services = {
    identity,
    registry: { catalog, cache, env },
    negotiator: new Negotiator(identity),
    log: { error: () => {}, info: () => {} },
  } as unknown as Services;
  return { services, catalog, engine };
}
