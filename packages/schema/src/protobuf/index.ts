/** Protobuf codecs by schema. One place to import from. */
export { decodeProtobuf, decodeProtobufSteps } from './decode.ts';
export { encodeProtobuf } from './encode.ts';
