// Places that scripts/own-keys.mjs leaves out, each with its reason: a file, or a file and the code in it.
const element = 'elements of field paths have a colon as second letter, or are a dot';
const careful = 'a type with a field of an inherited name is known beforehand, and read and written with care';
const ownKey = 'the key was listed as one of the same object before';
const named = 'the callers write the names of the fields';
const bare = 'the object has no prototype';

export const exceptions = {
  'src/lib/own.ts': 'the look-up and the assignment that all others use',
  'src/kinds/validation/pods/pod-warnings.ts item[field]': named,
  'src/kinds/validation/replicas.ts status[field]': named,
  'src/kinds/validation/replicas.ts (status as Counts<K>)[field]': named,
  'src/patch/fieldset.ts': element,
  'src/patch/gather.ts': element,
  'src/patch/prune.ts owned?.[element]': element,
  'src/patch/prune.ts last[element]': element,
  'src/patch/prune.ts result[element]': element,
  'src/patch/prune.ts gone[shape.element(item)]': element,
  'src/patch/record-update.ts result[element]': element,
  'src/registry/bootstrap/policy.ts Object.assign(object, structuredClone(result.object))': 'roles and bindings, which have fixed fields',
  'src/schema/field-place.ts value[key]': ownKey,
  'src/schema/json-decode-large.ts (value as Values)[key]': ownKey,
  'src/schema/json-decode.ts map[key]': ownKey,
  'src/schema/json-decode.ts (value as Values)[key]': ownKey,
  'src/schema/json-decode.ts out[plan.name]': careful,
  'src/schema/json-encode.ts object[key]': ownKey,
  'src/schema/json-value.ts object[plan.name]': careful,
  'src/schema/normal.ts value[name]': careful,
  'src/schema/plain.ts name in Object.prototype': 'asks for what is inherited',
  'src/schema/plain.ts (container as Record<string, unknown>)[key]': ownKey,
  'src/schema/plain.ts copy[key]': 'a copy has the same keys, which are only overwritten',
  'src/schema/protobuf-decode.ts out[field.name]': careful,
  'src/schema/protobuf-encode.ts (object as Values)[name]': 'fields of built-in kinds, none of which has an inherited name',
  'src/schema/protobuf-encode.ts (value as Values)[name]': ownKey,
  'src/schema/yaml-write.ts value[key]': ownKey,
  'src/server/http1/chunked.ts headers[one]': bare,
  'src/server/http1/head.ts headers[name]': bare,
  'src/storage/engines/lmdb/reopen.ts Object.assign(tables, { [name]: unavailable })': 'the tables of the store have fixed names',
  'src/storage/engines/lmdb/reopen.ts Object.assign(tables, { [name]: current[name] })': 'the tables of the store have fixed names',
};
