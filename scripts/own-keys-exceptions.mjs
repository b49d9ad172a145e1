// Places that scripts/own-keys.mjs leaves out, each with its reason: a file, or a file and the code in it.
const element = 'elements of field paths have a colon as second letter, or are a dot';
const careful = 'a type with a field of an inherited name is known beforehand, and read and written with care';
const ownKey = 'the key was listed as one of the same object before';
const named = 'the callers write the names of the fields';
const bare = 'the object has no prototype';

export const exceptions = {
  'packages/lib/src/own.ts': 'the look-up and the assignment that all others use',
  'packages/kinds/src/validation/pods/pod-warnings.ts item[field]': named,
  'packages/kinds/src/validation/replicas.ts status[field]': named,
  'packages/kinds/src/validation/replicas.ts (status as Counts<K>)[field]': named,
  'packages/patch/src/fieldset.ts': element,
  'packages/patch/src/fieldset-build.ts': element,
  'packages/patch/src/gather.ts': element,
  'packages/patch/src/prune.ts owned?.[element]': element,
  'packages/patch/src/prune.ts last[element]': element,
  'packages/patch/src/prune.ts result[element]': element,
  'packages/patch/src/prune.ts removedFields[shape.element(item)]': element,
  'packages/patch/src/record-update.ts result[element]': element,
  'packages/server/src/registry/bootstrap/policy.ts Object.assign(object, structuredClone(result.object))':
    'roles and bindings, which have fixed fields',
  'packages/schema/src/fields/field-place.ts value[key]': ownKey,
  'packages/schema/src/json/decode-large.ts (value as Values)[key]': ownKey,
  'packages/schema/src/json/decode.ts map[key]': ownKey,
  'packages/schema/src/json/decode.ts (value as Values)[key]': ownKey,
  'packages/schema/src/json/decode.ts out[plan.name]': careful,
  'packages/schema/src/json/encoders.ts object[key]': ownKey,
  'packages/schema/src/json/to-json.ts object[plan.name]': careful,
  'packages/schema/src/json/normal-form.ts value[name]': careful,
  'packages/schema/src/json/plain.ts name in Object.prototype': 'asks for what is inherited',
  'packages/schema/src/json/plain.ts container[key]': ownKey,
  'packages/schema/src/json/plain.ts copy[key]': 'a copy has the same keys, which are only overwritten',
  'packages/schema/src/protobuf/messages.ts out[field.name]': careful,
  'packages/schema/src/protobuf/encode.ts (object as Values)[name]': 'fields of built-in kinds, none of which has an inherited name',
  'packages/schema/src/protobuf/encode.ts (value as Values)[name]': ownKey,
  'packages/schema/src/yaml/write.ts level.map[key]': ownKey,
  'packages/server/src/http1/chunked.ts headers[one]': bare,
  'packages/server/src/http1/head.ts headers[name]': bare,
  'packages/storage/src/engines/lmdb/reopen.ts Object.assign(tables, { [name]: unavailable })': 'the tables of the store have fixed names',
  'packages/storage/src/engines/lmdb/reopen.ts Object.assign(tables, { [name]: current[name] })':
    'the tables of the store have fixed names',
};
