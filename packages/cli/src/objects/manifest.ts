import type { JsonObject } from '@plat-dev/schema/types';

/** An object of the API as a person wrote it. */
export interface Manifest {
  readonly object: JsonObject & { apiVersion: string; kind: string };
  /** Undefined if the server generates the name. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** Its place, for messages: `web.yaml, document 2`. */
  readonly source: string;
  /** What was named on the command line or found below it: a file, a directory with a kustomization, `STDIN` or an address. */
  readonly origin: string;
  /** The list of the file that it is an item of. */
  readonly list?: object | undefined;
}
