/**
 * Messages as a release of the API has them. A message is declared once, with the fields of all releases; what a release does not have
 * is unknown to it.
 *
 *   const Port = message('v1.Port', { port: req(1, int32), appProtocol: opt(2, string, { since: '1.30' }) });
 *
 *   schemaIn('1.29', Port)   the fields port
 *   schemaIn('1.30', Port)   Port itself, since nothing in it differs
 */
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { type Field, lazy, type MessageType, type Type, withFields } from './types.ts';

/** What is projected already: two releases with the same fields have messages of their own. */
class Projection {
  readonly release: ApiRelease;
  private readonly messages = new WeakMap<MessageType, MessageType>();
  private readonly types = new WeakMap<Type, Type>();
  private readonly differing = new WeakMap<MessageType, boolean>();

  constructor(release: ApiRelease) {
    this.release = release;
  }

  message<M extends MessageType>(whole: M): M {
    if (!this.differs(whole)) return whole;
    const cachedMessage = this.messages.get(whole);
    if (cachedMessage !== undefined) return cachedMessage as M;
    const entries = Object.entries(whole.fields as Record<string, Field>).flatMap(([key, field]): [string, Field][] => {
      const fieldInRelease = this.field(field);
      return fieldInRelease === undefined ? [] : [[key, fieldInRelease]];
    });
    const projected = withFields(whole, Object.fromEntries(entries));
    this.messages.set(whole, projected);
    wholes.set(projected, { release: this.release, whole });
    return projected;
  }

  /** Undefined if the release does not have the field. */
  private field(field: Field): Field | undefined {
    if (!existsIn(this.release, field)) return undefined;
    const { from, since: _since, until: _until, ...options } = field;
    let result: Field = options;
    for (const [release, change] of Object.entries(from ?? {}))
      if (isAtLeast(this.release, release)) result = { ...result, ...change } as Field;
    const type = this.type(result.type);
    return type === result.type ? result : { ...result, type };
  }

  private type(type: Type): Type {
    if (type.node === 'scalar') return type;
    if (type.node === 'message') return this.message(type);
    if (!this.differsIn(type)) return type;
    const cachedType = this.types.get(type);
    if (cachedType !== undefined) return cachedType;
    const projected = this.container(type);
    this.types.set(type, projected);
    return projected;
  }
  private container(type: Type): Type {
    switch (type.node) {
      case 'list':
        return Object.freeze({ ...type, item: this.type(type.item) });
      case 'map':
        return Object.freeze({ ...type, value: this.type(type.value) });
      case 'union': {
        const { object, other } = type;
        return Object.freeze({
          ...type,
          object: { ...object, type: this.type(object.type) },
          other: { ...other, type: this.type(other.type) },
        });
      }
      case 'lazy': {
        let resolved: Type | undefined;
        return lazy(() => {
          resolved ??= this.type(type.get());
          return resolved;
        });
      }
      default:
        return type;
    }
  }

  /** Whether anything within a message differs from its declaration. Messages may contain themselves. */
  private differs(message: MessageType): boolean {
    const cachedAnswer = this.differing.get(message);
    if (cachedAnswer !== undefined) return cachedAnswer;
    const reached = new Set<MessageType>();
    const result = this.reachesChange(message, reached);
    // Without a change within reach, nothing that was reached has one.
    if (result) this.differing.set(message, true);
    else for (const one of reached) this.differing.set(one, false);
    return result;
  }
  private reachesChange(message: MessageType, reached: Set<MessageType>): boolean {
    if (reached.has(message)) return false;
    const cachedAnswer = this.differing.get(message);
    if (cachedAnswer !== undefined) return cachedAnswer;
    reached.add(message);
    return Object.values(message.fields as Record<string, Field>).some(
      (field) => this.changes(field) || messagesIn(field.type).some((inner) => this.reachesChange(inner, reached)),
    );
  }
  private changes(field: Field): boolean {
    return !existsIn(this.release, field) || Object.keys(field.from ?? {}).some((release) => isAtLeast(this.release, release));
  }
  private differsIn(type: Type): boolean {
    return messagesIn(type).some((message) => this.differs(message));
  }
}

/** The messages that a type is made of, without looking into them. */
function messagesIn(type: Type): MessageType[] {
  switch (type.node) {
    case 'message':
      return [type];
    case 'list':
      return messagesIn(type.item);
    case 'map':
      return messagesIn(type.value);
    case 'lazy':
      return messagesIn(type.get());
    case 'union':
      return [...messagesIn(type.object.type), ...messagesIn(type.other.type)];
    default:
      return [];
  }
}

const projections = new Map<ApiRelease, Projection>();
const wholes = new WeakMap<MessageType, { readonly release: ApiRelease; readonly whole: MessageType }>();

/** A message as a release has it: the message itself where nothing in it differs. */
export function schemaIn<M extends MessageType>(release: ApiRelease, message: M): M {
  const origin = wholes.get(message);
  if (origin?.release === release) return message;
  const projection = projections.get(release) ?? new Projection(release);
  projections.set(release, projection);
  return projection.message((origin?.whole ?? message) as M);
}

/** The message with the fields of all releases. */
export const wholeSchema = <M extends MessageType>(message: M): M => (wholes.get(message)?.whole ?? message) as M;

export interface Existence {
  readonly since?: ApiRelease | undefined;
  readonly until?: ApiRelease | undefined;
}
/** Whether a release has what says `since` and `until`. */
export const existsIn = (release: ApiRelease, { since, until }: Existence): boolean =>
  (since === undefined || isAtLeast(release, since)) && (until === undefined || isAtLeast(until, release));
