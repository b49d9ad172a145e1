/** Protobuf codecs by schema. One place to import from. */
export { decodedProtobuf, decodeProtobuf } from './decode.ts';
export { encodeProtobuf } from './encode.ts';
