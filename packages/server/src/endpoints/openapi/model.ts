/** Paths and operations, in a form from which both OpenAPI versions are written. */
export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}
/** The description of a message (`core.v1.Pod`), or of one of its fields. */
export type Describe = (message: string, field?: string) => string | undefined;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly required?: boolean;
}
export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  /** Media types of the body; any if not given. */
  readonly consumes?: readonly string[];
  readonly produces: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Definition of the body. */
  readonly body?: string;
  readonly bodyRequired?: boolean;
  /** Success codes; `OK` for 200. */
  readonly codes: readonly ('200' | '201' | '202')[];
  /** Definition of the response; undefined: a text. */
  readonly answer: string | undefined;
}
export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

export const responseWords: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

/** The order of methods does not matter; names are sorted for readability. */
export const securityScheme = { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' } as const;
