/** Pruning, defaulting and validation by the schema of a custom version. Made once for a version of a definition. */
import type { Work } from '@plat-dev/lib/slices';
import { apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { requestTooLarge } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';
import type { ApiObject } from '../../kind.ts';
import { evaluation } from '../cel/load-evaluation.ts';
import { hasRules } from '../cel/rule-form.ts';
import { extensionNames, type JSONSchemaProps } from '../schema/json-schema.ts';
import { structureOf } from '../structure.ts';
import { fillDefaults, MAX_DEFAULTS } from './defaults.ts';
import { withEffort } from './effort.ts';
import { type Broken, readEmbedded, validateEmbedded } from './embedded.ts';
import { isPlainlyDistinct, listChecks } from './list-types.ts';
import { type Extensions, nodeOf, type ValueNode } from './node.ts';
import { prune, type Report } from './prune.ts';
import { compiledFits, fitsOf } from './schema-match.ts';
import { unknownFields } from './unknown-fields.ts';
import { validateValue } from './validate.ts';

const TOO_MUCH_EFFORT =
  'the object takes too much work to validate with the patterns, enumerations and combinations of its definition: make either smaller';
const TOO_LONG_DEFAULTS = `Request entity too large: the defaults of its definition would add more than ${MAX_DEFAULTS} bytes to the object`;

const RATCHETING_SINCE = '1.30';

export interface Reading {
  /** Called with the path of every field that is dropped because the schema does not name it: `spec.parts[0].z`. */
  readonly report?: Report;
  /** How to treat invalid metadata inside the object: `refuse` throws DecodeError. */
  readonly broken?: Broken;
  /** How to treat nulls where there may be none: `keep` leaves them for validation to refuse. */
  readonly nulls?: 'drop' | 'keep';
}

export class CustomSchema {
  /** The structure of objects of this version for ownership and apply; undefined if it is unknown. */
  readonly structure: MessageType | undefined;
  private readonly schema: JSONSchemaProps;
  private readonly x: Extensions;
  private readonly root: ValueNode;
  private readonly pruned: boolean;
  private readonly fits: (value: JsonValue) => boolean;
  private readonly rules: BeginRules | undefined;
  /** Whether errors of values that an update does not change are let through. */
  private readonly ratchets: boolean;

  private constructor(
    schema: JSONSchemaProps,
    x: Extensions,
    root: ValueNode,
    pruned: boolean,
    structure: MessageType | undefined,
    fits: (value: JsonValue) => boolean,
    rules: BeginRules | undefined,
    ratchets: boolean,
  ) {
    this.schema = schema;
    this.x = x;
    this.root = root;
    this.pruned = pruned;
    this.structure = structure;
    this.fits = fits;
    this.rules = rules;
    this.ratchets = ratchets;
  }

  /**
   * `prefix` is the identity's, of the extensions of schemas; `typeName` names the structure; `byRules`: rules are enforced, as in a
   * release.
   */
  static *compile(
    schemaProps: JSONSchemaProps | undefined,
    preserveUnknown: boolean,
    prefix: string,
    typeName: string,
    byRules = true,
    release: string = apiRelease,
  ): Work<CustomSchema> {
    const x: Extensions = { ...extensionNames(prefix), release };
    const schema = schemaProps ?? {};
    const root = yield* nodeOf(schema, x, 'root');
    yield* compiledFits(schema, x);
    const structure = schemaProps === undefined ? undefined : yield* structureOf(schemaProps, x, typeName, preserveUnknown);
    const rules = byRules ? yield* rulesOf(schema, x, release) : undefined;
    const pruned = schemaProps !== undefined && !preserveUnknown;
    return new CustomSchema(schema, x, root, pruned, structure, fitsOf(schema, x), rules, isAtLeast(release, RATCHETING_SINCE));
  }

  /**
   * Drops fields that the schema does not name, and nulls that are not allowed; embedded objects keep apiVersion, kind and valid
   * metadata. Throws DecodeError.
   */
  prune(object: ApiObject, { report, broken = 'refuse', nulls = 'drop' }: Reading = {}): void {
    if (this.pruned) prune(this.root, object, nulls, report);
    readEmbedded(this.root, object, broken);
  }

  /** Reports the fields of a body that `prune` would drop, and those of metadata that decoding would. */
  unknownFields(value: JsonValue, faults: FieldFaults): Work<void> {
    return unknownFields(this.root, this.pruned, value, faults);
  }

  /** Fills in defaults at every depth. Idempotent. Throws 413 if they would add too much. */
  fillDefaults(object: ApiObject): void {
    if (!fillDefaults(this.root, object)) throw requestTooLarge(TOO_LONG_DEFAULTS);
  }
  /** The same for a stored object: returns false if the defaults would add too much, and some are missing. */
  fillStored(object: ApiObject): boolean {
    return fillDefaults(this.root, object);
  }

  /** Returns the rest of the work, to be run. */
  validate(object: ApiObject, errors: FieldErrors): Work<void> | undefined {
    this.validateFields(object, undefined, errors);
    const lists = isPlainlyDistinct(this.root, object) ? undefined : this.validateLists(object, errors);
    return this.rules === undefined ? lists : this.withRules(this.rules, lists, { object, errors });
  }

  private *validateLists(object: ApiObject, errors: FieldErrors): Work<void> {
    yield;
    yield* listChecks(this.root, object, errors);
  }

  /** Duplicate members that were stored before are accepted; `warn` gets the errors of rules that are let through. */
  validateUpdate(object: ApiObject, old: ApiObject, errors: FieldErrors, warn?: (text: string) => void): Work<void> | undefined {
    this.validateFields(object, this.ratchets ? old : undefined, errors);
    const lists = isPlainlyDistinct(this.root, object) ? undefined : this.validateListsUpdate(object, old, errors);
    return this.rules === undefined
      ? lists
      : this.withRules(this.rules, lists, { object, old, errors, ...(this.ratchets && warn && { warn }) });
  }
  private *validateListsUpdate(object: ApiObject, old: ApiObject, errors: FieldErrors): Work<void> {
    yield;
    const now = new FieldErrors();
    yield* listChecks(this.root, object, now);
    if (now.empty) return;
    const oldErrors = new FieldErrors();
    yield* listChecks(this.root, old, oldErrors);
    if (oldErrors.empty) errors.list.push(...now.list);
  }

  /** Rules run last, on values with the types and sizes of the schema. */
  private withRules(rules: BeginRules, lists: Work<void> | undefined, write: Write): Work<void> | undefined {
    return lists === undefined ? runRules(rules, write) : afterLists(rules, lists, write);
  }

  /** With `old`, what is wrong with values that are as they were is let through. */
  private validateFields(object: ApiObject, old: ApiObject | undefined, errors: FieldErrors): void {
    const value = object as unknown as JsonValue;
    withEffort(
      () => {
        if (!this.fits(value)) validateValue(value, this.schema, this.x, undefined, errors, old as JsonValue | undefined);
      },
      () => errors.invalid(Path.of(''), '', TOO_MUCH_EFFORT),
    );
    validateEmbedded(this.root, object, errors);
  }
}

/** What the rules of a version run on. */
interface Write {
  readonly object: ApiObject;
  readonly old?: ApiObject;
  readonly errors: FieldErrors;
  readonly warn?: (text: string) => void;
}
/** Returns the rest of the work. */
type BeginRules = (write: Write) => Work<void> | undefined;

/** Undefined for a schema without rules. */
function* rulesOf(schema: JSONSchemaProps, x: Extensions, release: string): Work<BeginRules | undefined> {
  if (!(yield* hasRules(schema, x))) return undefined;
  const { RuleRun, ruleReleaseOf, ruleTreeOf } = yield* evaluation();
  const rules = ruleReleaseOf(release);
  const tree = yield* ruleTreeOf(schema, x, true, rules.environments.stored);
  return tree && (({ object, old, errors, warn }) => new RuleRun(tree, object, old, { rules, errors, warn }).begin());
}

function* afterLists(rules: BeginRules, lists: Work<void>, write: Write): Work<void> {
  yield* lists;
  const rest = runRules(rules, write);
  if (rest !== undefined) yield* rest;
}

/** Errors after which expressions cannot rely on the types of values. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function runRules(rules: BeginRules, write: Write): Work<void> | undefined {
  const { errors } = write;
  if (!errors.empty && errors.list.some(({ reason }) => blocking.has(reason))) {
    errors.add('FieldValueInvalid', '<nil>', `Invalid value: "null": ${NOT_CHECKED}`);
    return undefined;
  }
  return rules(write);
}
