/** The binary form on the schema. One place to import from; the parts stand in files of their own. */
export { decodeProtobuf, decodeProtobufSteps } from './protobuf-decode.ts';
export { encodeProtobuf } from './protobuf-encode.ts';
