/**
 * `/statusz` and `/flagz`: what the server is, and the flags that it runs with. As text for people, and as kinds of the group of
 * configurations for programs that ask for them:
 *
 *   Accept: application/json;g=config.k8s.io;v=v1beta1;as=Statusz
 */

import { isAtLeast, patchRelease } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { notAcceptable } from '@plat-dev/meta/errors';
import { groupsOfAll } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { Context } from '../context.ts';
import { parseAccept } from '../request/negotiate.ts';
import { send, sendText } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { type Endpoint, readOnly } from './endpoint.ts';

export interface ZpageOptions {
  /** Release of the API. */
  readonly release: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Names and values of the flags, without what only the server may know. */
  readonly flags: () => Readonly<Record<string, string>>;
  /** Paths that status pages name. */
  readonly paths: () => readonly string[];
}

interface Page {
  readonly kind: 'Statusz' | 'Flagz';
  /** Fields of the kind, after its metadata. */
  readonly fields: () => object;
  readonly text: () => string;
}
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const headed = (title: string, lines: readonly string[]): string => `\napiserver ${title}\n${WARNING}\n\n${lines.join('\n')}\n`;

/** The pages that the release has, by path. */
export function zpages(services: Services, options: ZpageOptions): Map<string, Endpoint> {
  const { feature } = services.registry.env;
  const pages = new Map<string, Endpoint>();
  if (feature('ComponentStatusz')) pages.set('/statusz', endpoint(services, options, statusPage(options)));
  if (feature('ComponentFlagz')) pages.set('/flagz', endpoint(services, options, flagPage(options)));
  return pages;
}

function statusPage({ release, startedAt, now, paths }: ZpageOptions): Page {
  const uptime = (): number => Math.max(0, Math.floor((now() - startedAt) / 1000));
  const version = { goVersion: `node${process.versions.node}`, binaryVersion: patchRelease(release), emulationVersion: release };
  return {
    kind: 'Statusz',
    fields: () => ({ startTime: formatTime(startedAt), uptimeSeconds: uptime(), ...version, paths: paths() }),
    text: () => {
      const seconds = uptime();
      const up = `${Math.floor(seconds / 3600)} hr ${Math.floor(seconds / 60) % 60} min ${seconds % 60} sec`;
      return headed('statusz', [
        `Started: ${formatTime(startedAt)}`,
        `Up: ${up}`,
        `Go version: ${version.goVersion}`,
        `Binary version: ${version.binaryVersion}`,
        `Emulation version: ${version.emulationVersion}`,
        '',
        'Paths',
        ...paths(),
      ]);
    },
  };
}

function flagPage({ flags }: ZpageOptions): Page {
  return {
    kind: 'Flagz',
    fields: () => ({ flags: flags() }),
    text: () =>
      headed(
        'flagz',
        Object.entries(flags()).map(([name, value]) => `${name}=${value}`),
      ),
  };
}

function endpoint({ identity }: Services, { release }: ZpageOptions, page: Page): Endpoint {
  const groups = groupsOfAll(identity, 'config');
  const versions = [...(isAtLeast(release, '1.35') ? ['v1alpha1'] : []), ...(isAtLeast(release, '1.36') ? ['v1beta1'] : [])];
  const media = [
    ...(versions.length > 0 ? ['application/json'] : []),
    // The first release with kinds had no YAML.
    ...(isAtLeast(release, '1.36') ? ['application/yaml'] : []),
    'text/plain',
  ];
  return readOnly(async (ctx) => {
    const clauses = parseAccept(ctx.header('accept') ?? '');
    if (clauses.length === 0) return sendText(ctx, 200, page.text());
    for (const { type, subtype, parameters } of clauses) {
      const name = `${type}/${subtype}`;
      const { as, g = '', v = '' } = parameters;
      if (as === undefined && (name === '*/*' || name === 'text/*' || name === 'text/plain')) return sendText(ctx, 200, page.text());
      if (as === page.kind && media.includes(name) && name !== 'text/plain' && groups.includes(g) && versions.includes(v))
        return sendKind(ctx, page, name, `${g}/${v}`);
    }
    throw notAcceptable(media);
  });
}

async function sendKind(ctx: Context, { kind, fields }: Page, media: string, apiVersion: string): Promise<void> {
  const object = { kind, apiVersion, metadata: { name: 'apiserver' }, ...fields() };
  const { group: g, version: v } = splitApiVersion(apiVersion);
  const type = `${media};g=${g};v=${v};as=${kind}`;
  if (media === 'application/json') return send(ctx, 200, type, `${JSON.stringify(object)}\n`);
  const { stringifyYaml } = await import('@plat-dev/schema/yaml');
  send(ctx, 200, type, stringifyYaml(object as never));
}
