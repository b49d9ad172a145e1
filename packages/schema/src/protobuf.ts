/** Protobuf codecs by schema. One place to import from. */
export { decodeProtobuf, decodeProtobufSteps } from './protobuf-decode.ts';
export { encodeProtobuf } from './protobuf-encode.ts';
