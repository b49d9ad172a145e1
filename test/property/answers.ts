/** What every answer must be like, whatever was asked. */

import { Status } from '../../packages/kinds/src/meta-kinds.ts';
import { isProtobufMediaType } from '../../packages/meta/src/identity.ts';
import { decodeEnvelope, isEnvelope } from '../../packages/schema/src/protobuf/envelope.ts';
import { decodeProtobuf } from '../../packages/schema/src/protobuf/index.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import type { Loose } from '../support/client.ts';
import type { Sent } from './edits.ts';

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** The answer goes on: only its beginning was read. */
  readonly stream: boolean;
  /** Processor time of this process from before the request until after its answer, in microseconds; a second more at most. */
  readonly cpuUs: number;
}

/** Processor time that any answer may take, and more for each byte that was sent or received: some hundred times what is usual. */
const CPU_US = 4_000_000;
const CPU_US_A_BYTE = 40;

/** What a stock server answers in plain text: paths that lead nowhere, failed checks, groups whose server is away. */
const plainRefusals = /^404 page not found\n$|check failed\n|^service unavailable\n$/;

type Form = 'json' | 'yaml' | 'protobuf' | 'text' | 'other';
function formOf(type: string): Form {
  const [name = ''] = type.split(';');
  if (name === 'application/json') return 'json';
  if (name === 'application/yaml') return 'yaml';
  if (isProtobufMediaType(name)) return 'protobuf';
  return name === 'text/plain' ? 'text' : 'other';
}

function valueIn(form: Form, bytes: Buffer): Loose {
  if (form === 'json') return JSON.parse(bytes.toString());
  if (form === 'yaml') return parseYaml(bytes);
  const { kind, raw } = decodeEnvelope(bytes);
  return kind === 'Status' ? { kind, ...(decodeProtobuf(Status, raw) as object) } : { kind };
}

/** What is wrong with an answer, or nothing. */
export function fault(sent: Sent, { status, headers, bytes, stream, cpuUs }: Got): string | undefined {
  const size = bytes.length + (sent.body?.length ?? 0);
  if (cpuUs > CPU_US + CPU_US_A_BYTE * size) return `${Math.round(cpuUs / 1000)} ms of processor time for ${size} bytes`;
  const form = formOf(String(headers['content-type'] ?? ''));
  if (status === 500) return `500: ${bytes.toString().slice(0, 2000)}`;
  if (stream) return /"code":500\b/.test(bytes.toString('latin1')) ? `500 in a watch: ${bytes.toString().slice(0, 2000)}` : undefined;
  if (sent.method === 'HEAD' || status === 204 || status === 304) return undefined;
  if (status < 400 && (bytes.length === 0 || bytes.length > 200_000)) return undefined;
  return status < 400 ? faultOfSuccess(form, bytes) : faultOfRefusal(sent, status, form, bytes);
}

function faultOfSuccess(form: Form, bytes: Buffer): string | undefined {
  if (form === 'text' || form === 'other' || !(form !== 'protobuf' || isEnvelope(bytes))) return undefined;
  try {
    valueIn(form, bytes);
    return undefined;
  } catch (error) {
    return `an answer that cannot be read: ${String(error)}: ${bytes.toString('latin1').slice(0, 500)}`;
  }
}

function faultOfRefusal(sent: Sent, status: number, form: Form, bytes: Buffer): string | undefined {
  // Of OpenAPI documents, a stock server sends no more than the code.
  if ((status === 404 || status === 406) && bytes.length === 0 && sent.path.startsWith('/openapi/')) return undefined;
  const shown = `${status} as ${form}: ${bytes.toString('latin1').slice(0, 500)}`;
  if (form === 'text') return plainRefusals.test(bytes.toString()) ? undefined : `not a Status: ${shown}`;
  const wanted = wantedForm(sent.headers.accept);
  if (wanted !== undefined && wanted !== form) return `a Status in another form than ${wanted}: ${shown}`;
  try {
    const { kind, code, reason, message } = valueIn(form, bytes);
    if (kind !== 'Status') return `not a Status: ${shown}`;
    if (code !== status) return `a Status of another code: ${shown}`;
    if (typeof message !== 'string' || message === '') return `a Status without a message: ${shown}`;
    return reason === 'InternalError' ? `an internal error: ${shown}` : undefined;
  } catch (error) {
    return `a Status that cannot be read: ${String(error)}: ${shown}`;
  }
}

/** The form that a client asks for, where it names one alone. */
function wantedForm(accept: string | undefined): Form | undefined {
  if (accept === undefined || accept === '' || accept === '*/*') return 'json';
  if (accept.includes(',') || /;\s*stream\b/.test(accept)) return undefined;
  // Errors are never transformed: who asks for nothing else gets the last resort.
  if (/;\s*(as|g|v|sv)\s*=\s*[^;=\s]/.test(accept)) return 'json';
  const form = formOf(accept);
  return form === 'text' || form === 'other' ? undefined : form;
}
