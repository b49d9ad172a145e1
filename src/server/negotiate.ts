/** Which representation a client wants, read off its Accept header once per distinct header text. */
import { groupName, type Identity, metaGroups, protobufMediaTypes } from '../identity.ts';
import { ApiError, notAcceptable } from '../meta/errors.ts';

export type Media = 'json' | 'yaml' | 'protobuf';
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Representation {
  readonly media: Media;
  /** Content type of the answer. */
  readonly type: string;
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
  /** Meta group and version under which the transform was asked for. */
  readonly transformVersion: string;
  readonly stream: boolean;
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

export interface Offer {
  /** Objects can be written in the binary form. */
  readonly protobuf: boolean;
  readonly transforms: readonly Transform[];
}
/** Media types by name, as refusals list them. */
const mediaTypes = (offer: Offer, own: string): string[] => ['application/json', 'application/yaml', ...(offer.protobuf ? [own] : [])];

const CACHE_LIMIT = 512;
const LONGEST_KEPT = 1024;

export class Negotiator {
  private readonly own: string;
  private readonly binaryTypes: readonly string[];
  private readonly metaGroups: readonly string[];
  private readonly cache = new Map<string, Representation | ApiError>();

  constructor(identity: Identity) {
    this.own = identity.protobufMediaType;
    this.binaryTypes = [this.own, ...protobufMediaTypes];
    this.metaGroups = [groupName(identity, 'meta'), ...metaGroups];
  }

  /** Throws 406. `watch`: the answer is a stream of events. */
  negotiate(accept: string | undefined, offer: Offer, watch = false): Representation {
    const key = `${watch ? 'w' : 'o'}${offer.protobuf ? 'b' : 't'}${offer.transforms.join()}|${accept ?? ''}`;
    let found = this.cache.get(key);
    if (found === undefined) {
      found = this.choose(accept ?? '', offer, watch);
      // Long ones are nobody's habit.
      if (key.length <= LONGEST_KEPT) {
        if (this.cache.size >= CACHE_LIMIT) this.cache.clear();
        this.cache.set(key, found);
      }
    }
    if (found instanceof ApiError) throw found;
    return found;
  }

  private choose(accept: string, offer: Offer, watch: boolean): Representation | ApiError {
    const clauses = parseAccept(accept);
    if (clauses.length === 0) return plain('json', watch, this.own);
    let recognised = false;
    for (const clause of clauses) {
      const media = this.mediaOf(clause, offer);
      if (media === undefined) continue;
      recognised = true;
      // The first type that the server knows decides; a stream cannot be YAML.
      if (watch && media === 'yaml') break;
      const representation = this.accepts(clause, media, offer, watch);
      if (representation !== undefined) return representation;
    }
    // Clients of custom kinds, which do not have every form, learn which ones there are.
    if (!recognised) return offer.protobuf ? unacceptable() : notAcceptable(mediaTypes(offer, this.own));
    if (watch) return notAcceptable(['application/json;stream=watch', ...(offer.protobuf ? [`${this.own};stream=watch`] : [])]);
    return notAcceptable(mediaTypes(offer, this.own));
  }

  private mediaOf(clause: Clause, offer: Offer): Media | undefined {
    const name = `${clause.type}/${clause.subtype}`;
    if (name === '*/*' || name === 'application/*' || name === 'application/json') return 'json';
    if (name === 'application/yaml') return 'yaml';
    if (offer.protobuf && this.binaryTypes.includes(name)) return 'protobuf';
    return undefined;
  }

  private accepts(clause: Clause, media: Media, offer: Offer, watch: boolean): Representation | undefined {
    const { as, g = '', v = '', stream, pretty } = clause.parameters;
    if (stream !== undefined && stream !== 'watch') return undefined;
    const type = media === 'protobuf' ? `${clause.type}/${clause.subtype}` : `application/${media}`;
    const base = plain(media, watch, type);
    const result = { ...base, pretty: pretty === '1' || pretty === 'true' };
    if (as === undefined) return g === '' && v === '' ? result : undefined;
    const known = offer.transforms.find((t) => t === as);
    if (known === undefined || !this.metaGroups.includes(g) || (v !== 'v1' && v !== 'v1beta1')) return undefined;
    // A Table has no binary form.
    if (known === 'Table' && media === 'protobuf') return undefined;
    return { ...result, transform: known, transformVersion: `${g}/${v}` };
  }
}

function plain(media: Media, watch: boolean, type: string): Representation {
  const name = media === 'protobuf' ? type : `application/${media}`;
  return {
    media,
    type: watch && media === 'protobuf' ? `${name};stream=watch` : name,
    pretty: false,
    transform: undefined,
    transformVersion: '',
    stream: watch,
  };
}

/** None of the asked-for types is one of any API answer. */
export const unacceptable = (): ApiError => new ApiError(406, 'NotAcceptable', '406: Not Acceptable', {});

/** Clauses by falling quality, those of one quality in the order given. */
export function parseAccept(accept: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of accept.split(',')) {
    const [name = '', ...rest] = part.split(';');
    const [type = '', subtype = ''] = name.trim().split('/');
    if (type === '') continue;
    const parameters: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const parameter of rest) {
      const [key = '', value = ''] = parameter.split('=');
      parameters[key.trim().toLowerCase()] = value.trim().replace(/^"|"$/g, '');
    }
    const quality = parameters.q === undefined ? 1 : Number(parameters.q);
    clauses.push({ type, subtype, parameters, quality: Number.isNaN(quality) ? 1 : quality });
  }
  return clauses.sort((a, b) => b.quality - a.quality);
}

/** Browsers and command-line fetchers get indented answers unless they say otherwise. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined) return pretty !== '' && pretty !== '0' && pretty.toLowerCase() !== 'false';
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
