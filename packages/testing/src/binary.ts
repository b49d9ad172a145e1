/**
 * A transport whose bodies are in the binary form (protobuf), as clients in Go send them; its user sees JSON. What has no binary form
 * stays JSON: custom kinds, patches, and subresources that are kinds of their own.
 */

import type { Http, HttpRequest, StreamSink } from '@plat-dev/client/http';
import type { Kind } from '@plat-dev/kinds/kind';
import { listSchema } from '@plat-dev/kinds/lists';
import { DeleteOptions, PartialObjectMetadata, PartialObjectMetadataList, Status } from '@plat-dev/kinds/meta-kinds';
import { serve } from '@plat-dev/kinds/served-kind';
import { jsonText } from '@plat-dev/lib/json-text';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { DecodeError } from '@plat-dev/schema/errors';
import { decode, toJson } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import { decodeProtobuf } from '@plat-dev/schema/protobuf';
import { decodeEnvelope, decodeObject, encodeObject, isEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { bytes, type JsonObject, type JsonValue, type MessageType, message, opt, req, string } from '@plat-dev/schema/types';

/** An event of a watch; its object is in an envelope. */
const Event = message('meta.v1.WatchEvent', {
  type: req(1, string),
  object: opt(2, message('runtime.RawExtension', { raw: opt(1, bytes) })),
});
/** Bytes of the length before each event. */
const LENGTH_BYTES = 4;

/** A path whose bodies are objects of the resource that it names, or lists of them. */
const ofResource =
  /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?[^/?]+(?:\/[^/?]+)?(?:\/(?:status|finalize|approval))?(?:\?|$)/;

export class BinaryForm {
  private readonly identity: Identity;
  /** By version and kind. */
  private readonly schemas = new Map<string, MessageType>();

  constructor(identity: Identity, kinds: readonly Kind[]) {
    this.identity = identity;
    for (const kind of kinds) {
      const store = kinds.find((one) => one.group === kind.sharesStoreOf?.group && one.plural === kind.sharesStoreOf.plural);
      for (const { apiVersion, schema, kind: named } of serve(kind, identity, { all: true, ...(store && { store }) })) {
        this.schemas.set(`${apiVersion} ${named.kind}`, schema);
        this.schemas.set(`${apiVersion} ${named.listKind}`, listSchema(schema) as MessageType);
      }
    }
    const metadata = `${groupName(identity, 'meta')}/v1`;
    this.schemas.set('v1 Status', Status);
    this.schemas.set('v1 DeleteOptions', DeleteOptions);
    this.schemas.set(`${metadata} PartialObjectMetadata`, PartialObjectMetadata);
    this.schemas.set(`${metadata} PartialObjectMetadataList`, PartialObjectMetadataList);
  }

  over(http: Http): Http {
    return {
      request: async (request) => {
        const { status, body } = await http.request(this.sent(request));
        return { status, body: this.received(body) };
      },
      stream: (request, sink) => http.stream(this.sent(request), this.events(sink)),
    };
  }

  /** A body as JSON. */
  received(body: TextBytes): Buffer {
    const bytes = bufferOf(body);
    return isEnvelope(bytes) ? Buffer.from(jsonText(this.read(bytes))) : bytes;
  }

  private sent(request: HttpRequest): HttpRequest {
    const { headers = {}, body } = request;
    if (!ofResource.test(request.path)) return request;
    const { accept = 'application/json' } = headers;
    const type = this.identity.protobufMediaType;
    const acceptHeaders = { ...headers, accept: `${accept.replace('application/json', type)},${accept}` };
    const binary = headers['content-type'] === 'application/json' && body !== undefined ? this.encoded(body) : undefined;
    return binary === undefined
      ? { ...request, headers: acceptHeaders }
      : { ...request, headers: { ...acceptHeaders, 'content-type': type }, body: binary };
  }

  /** Undefined where it cannot be in the binary form: the server says what is wrong with it. */
  private encoded(body: string | Buffer): Buffer | undefined {
    const object = parseExact(body.toString()) as JsonObject;
    const schema = this.schemas.get(`${object.apiVersion} ${object.kind}`);
    if (schema === undefined) return undefined;
    try {
      return encodeObject(schema, decode(schema, object) as { kind?: string; apiVersion?: string });
    } catch (error) {
      if (error instanceof DecodeError) return undefined;
      throw error;
    }
  }

  private read(body: Buffer): JsonValue {
    const envelope = decodeEnvelope(body);
    const { apiVersion, kind } = envelope;
    const schema = this.schemas.get(`${apiVersion} ${kind}`);
    if (schema === undefined) throw new Error(`the server sent ${apiVersion} ${kind} in the binary form, which this client cannot read`);
    return { ...(toJson(schema, decodeObject(schema, envelope)) as JsonObject), apiVersion, kind };
  }

  /** Events with their length before each become lines of JSON; those of custom kinds are such lines. */
  private events(sink: StreamSink): StreamSink {
    let rest: Buffer = Buffer.alloc(0);
    let isText: boolean | undefined;
    return {
      data: (chunk) => {
        isText ??= chunk[0] === '{'.charCodeAt(0);
        if (isText) return sink.data(chunk);
        rest = rest.length === 0 ? bufferOf(chunk) : Buffer.concat([rest, chunk]);
        while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt32BE(0)) {
          const end = LENGTH_BYTES + rest.readUInt32BE(0);
          const { type, object } = decodeProtobuf(Event, rest.subarray(LENGTH_BYTES, end));
          rest = rest.subarray(end);
          sink.data(Buffer.from(`${jsonText({ type, object: this.read(Buffer.from(object?.raw ?? '', 'base64')) })}\n`));
        }
      },
      end: (error) => sink.end(error),
    };
  }
}

const bufferOf = ({ buffer, byteOffset, length }: TextBytes): Buffer => Buffer.from(buffer, byteOffset, length);
