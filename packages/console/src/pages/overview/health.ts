/** The checks of `/livez?verbose` and `/readyz?verbose`. */
import type { Api } from '../../api/api.ts';
import { ApiError, asApiError } from '../../api/api-error.ts';

export interface Health {
  /** Undefined: the server does not tell it to this user. */
  readonly isGood: boolean | undefined;
  readonly checks: number;
  readonly failed: readonly string[];
}

/** `[+]ping ok`, `[-]etcd failed: reason withheld`. */
function readHealth(text: string): Pick<Health, 'checks' | 'failed'> {
  const checks = [...text.matchAll(/^\[([+-])\](\S+)/gm)];
  return { checks: checks.length, failed: checks.filter(([, sign]) => sign === '-').map(([, , name = '']) => name) };
}

export async function loadHealth(api: Pick<Api, 'text'>, path: '/livez' | '/readyz', signal?: AbortSignal): Promise<Health> {
  try {
    const text = await api.text(path, { query: { verbose: true }, accept: 'text/plain', ...(signal === undefined ? {} : { signal }) });
    return { isGood: true, ...readHealth(text) };
  } catch (error) {
    const { code, message } = asApiError(error);
    if (code === 0) throw new ApiError({}, 0);
    if (code === 401 || code === 403 || code === 404) return { isGood: undefined, checks: 0, failed: [] };
    return { isGood: false, ...readHealth(message) };
  }
}
