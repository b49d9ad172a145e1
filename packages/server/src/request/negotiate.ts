/** The representation that a client accepts, parsed from its Accept header once per distinct header text. */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { setOwn } from '@plat-dev/lib/own';
import { ApiError, notAcceptable } from '@plat-dev/meta/errors';
import { groupName, type Identity, isProtobufMediaType, metaGroups, protobufMediaTypes } from '@plat-dev/meta/identity';

export type Media = 'json' | 'yaml' | 'protobuf';
type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface MediaForm {
  readonly media: Media;
  /** Content type of the response. */
  readonly type: string;
}
export interface Representation extends MediaForm {
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
  /** Meta group and version of the requested transform. */
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
  /** Whole objects have a protobuf form. Metadata only always has one. */
  readonly protobuf: boolean;
  readonly transforms: readonly Transform[];
  /** The response is a list. */
  readonly list?: boolean;
}
const everyForm: Offer = { protobuf: true, transforms: [] };
/** The form of answers of a route, once it was negotiated. */
export interface NotedForm {
  readonly accept: string | undefined;
  readonly offer: Offer;
  readonly representation: Representation;
}
/** Media types by name, as refusals list them. */
const mediaTypes = (offer: Offer, binaryType: string): string[] => [
  'application/json',
  'application/yaml',
  ...(offer.protobuf ? [binaryType] : []),
];

type ChoicesByAccept = BoundedCache<string, Representation | ApiError>;
/** Maximum headers that are cached for one offer, and characters of one. */
const CACHE_LIMIT = 256;
const LONGEST_KEPT = 1024;

export class Negotiator {
  private readonly binaryType: string;
  private readonly binaryTypes: readonly string[];
  private readonly metaGroups: readonly string[];
  /** By what is offered, then by the text of the header. Offers are constants, so that there are few. */
  private readonly objects = new WeakMap<Offer, ChoicesByAccept>();
  private readonly streams = new WeakMap<Offer, ChoicesByAccept>();

  constructor(identity: Identity) {
    this.binaryType = identity.protobufMediaType;
    this.binaryTypes = [this.binaryType, ...protobufMediaTypes];
    this.metaGroups = [groupName(identity, 'meta'), ...metaGroups];
  }

  /** Throws 406. `watch`: the response is a stream of events. */
  negotiate(accept: string | undefined, offer: Offer, watch = false): Representation {
    const choices = watch ? this.streams : this.objects;
    let choicesOfOffer = choices.get(offer);
    if (choicesOfOffer === undefined) {
      choicesOfOffer = new BoundedCache(CACHE_LIMIT);
      choices.set(offer, choicesOfOffer);
    }
    const text = accept ?? '';
    let representation = choicesOfOffer.get(text);
    if (representation === undefined) {
      representation = this.choose(text, offer, watch);
      // Longer headers are not cached.
      if (text.length <= LONGEST_KEPT) choicesOfOffer.set(text, representation);
    }
    if (representation instanceof ApiError) throw representation;
    return representation;
  }

  private choose(accept: string, offer: Offer, watch: boolean): Representation | ApiError {
    const clauses = parseAccept(accept);
    if (clauses.length === 0) return plain('json', watch, this.binaryType);
    let recognised = false;
    for (const clause of clauses) {
      const media = this.mediaOf(clause, offer);
      if (media === undefined) continue;
      recognised = true;
      const representation = this.accepts(clause, media, offer, watch);
      if (representation instanceof ApiError) return representation;
      // The first type that is available decides; a stream cannot be YAML.
      if (representation !== undefined && watch && media === 'yaml') break;
      if (representation !== undefined) return representation;
    }
    // Clients of custom kinds, which do not have every form, get a list of the available ones.
    if (!recognised) return offer.protobuf ? unacceptable() : notAcceptable(mediaTypes(offer, this.binaryType));
    if (watch) return notAcceptable(['application/json;stream=watch', ...(offer.protobuf ? [`${this.binaryType};stream=watch`] : [])]);
    return notAcceptable(mediaTypes(offer, this.binaryType));
  }

  /** The form that a clause names, whatever its parameters say; undefined for one that this server does not have. */
  mediaForm(clause: Clause): MediaForm | undefined {
    const media = this.mediaOf(clause, everyForm);
    return media && { media, type: media === 'protobuf' ? `${clause.type}/${clause.subtype}` : `application/${media}` };
  }

  private mediaOf(clause: Clause, offer: Offer): Media | undefined {
    const media = textMedia(clause);
    if (media !== undefined) return media;
    const binary = offer.protobuf || offer.transforms.length > 0;
    return binary && this.binaryTypes.includes(`${clause.type}/${clause.subtype}`) ? 'protobuf' : undefined;
  }

  /** Undefined: not in this form. An error: the form is known, but not available for this response. */
  private accepts(clause: Clause, media: Media, offer: Offer, watch: boolean): Representation | ApiError | undefined {
    const { as, g = '', v = '', sv = '', pretty } = clause.parameters;
    if (!streams(clause, media) || (sv !== '' && sv !== 'v1')) return undefined;
    const type = media === 'protobuf' ? `${clause.type}/${clause.subtype}` : `application/${media}`;
    const result = { ...plain(media, watch, type), pretty: pretty === '1' };
    if (as === undefined) return g === '' && v === '' && (media !== 'protobuf' || offer.protobuf) ? result : undefined;
    if (!this.metaGroups.includes(g) || (v !== 'v1' && v !== 'v1beta1')) return undefined;
    const transform = offer.transforms.find((t) => t === as);
    if (transform === undefined) return watch || offer.transforms.length === 0 ? undefined : wrongShape(as, offer);
    // A Table has no protobuf form.
    if (transform === 'Table' && media === 'protobuf') return undefined;
    return { ...result, transform: transform, transformVersion: `${g}/${v}` };
  }
}

/** The metadata of one object was requested for a list, or the other way round. */
function wrongShape(as: string, { list = false }: Offer): ApiError | undefined {
  if (as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
  const shape = list ? 'is a list; ask for PartialObjectMetadataList' : 'is not a list; ask for PartialObjectMetadata';
  return new ApiError(406, 'NotAcceptable', `you requested ${as}, but the requested object ${shape}`);
}

function textMedia({ type, subtype }: Clause): 'json' | 'yaml' | undefined {
  const name = `${type}/${subtype}`;
  if (name === '*/*' || name === 'application/*' || name === 'application/json') return 'json';
  return name === 'application/yaml' ? 'yaml' : undefined;
}

/** Whether a media type has the stream that its `stream` parameter names. YAML has none. */
const streams = ({ parameters: { stream } }: Clause, media: Media): boolean =>
  stream === undefined || (stream === 'watch' && media !== 'yaml');

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

/** None of the accepted types is a type of any API response. */
export const unacceptable = (): ApiError => new ApiError(406, 'NotAcceptable', '406: Not Acceptable', {});

/** How errors are encoded. */
export interface ErrorForm {
  readonly media: Media;
  readonly type: string;
  /** Indented for every client. */
  readonly pretty: boolean;
}
const plainErrors: ErrorForm = { media: 'json', type: 'application/json', pretty: false };
/** For clients that accept no form of errors: a Table, metadata, another media type. */
const lastResort: ErrorForm = { media: 'json', type: 'application/json', pretty: true };

/** The form of errors. They are never transformed: a clause with a transform is skipped. */
export function errorForm(accept: string | undefined): ErrorForm {
  if (accept === undefined || accept === '' || accept === 'application/json') return plainErrors;
  for (const clause of parseAccept(accept)) {
    const name = `${clause.type}/${clause.subtype}`;
    const media = textMedia(clause) ?? (isProtobufMediaType(name) ? 'protobuf' : undefined);
    const { as, g, v, sv, pretty } = clause.parameters;
    if (media === undefined || !streams(clause, media) || (as ?? g ?? v ?? sv) !== undefined) continue;
    if (media === 'json') return pretty === '1' ? lastResort : plainErrors;
    return { media, type: name, pretty: false };
  }
  return lastResort;
}

/** Clauses in the order of a stock server. Parameters without a value do not count. */
export function parseAccept(accept: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of accept.split(',')) {
    const [name = '', ...parameterTexts] = part.split(';');
    const [type = '', subtype = ''] = name.trim().split('/');
    if (type === '') continue;
    const parameters: Record<string, string> = Object.create(null) as Record<string, string>;
    let quality = 1;
    for (const parameter of parameterTexts) {
      const [key = '', value = '', ...more] = parameter.split('=');
      if (value === '' || more.length > 0) continue;
      if (key.trim() === 'q') quality = NUMBER.test(value) ? Number(value) : 0;
      else setOwn(parameters, key.trim(), value.trim());
    }
    clauses.push({ type, subtype, parameters, quality });
  }
  return clauses.length <= MOST_ORDERED ? ordered(clauses) : clauses.sort((a, b) => b.quality - a.quality);
}
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Longer lists are ordered by quality alone. */
const MOST_ORDERED = 12;

/**
 * Moves each clause before those that it precedes: those of less quality, and wildcards, even of a higher one.
 *
 *   a/*, b/c;q=0.1   → b/c, a/*
 */
function ordered(clauses: Clause[]): Clause[] {
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0 && goesBefore(clauses[j] as Clause, clauses[j - 1] as Clause); j--) {
      [clauses[j - 1], clauses[j]] = [clauses[j] as Clause, clauses[j - 1] as Clause];
    }
  }
  return clauses;
}
const goesBefore = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');

const TRUE: readonly string[] = ['1', 't', 'T', 'true', 'True', 'TRUE'];

/** Browsers and command-line fetchers get indented responses unless they opt out. A text that is not a boolean is false. */
export function wantsPretty(pretty: string | undefined, reader: boolean): boolean {
  return pretty !== undefined && pretty !== '' ? TRUE.includes(pretty) : reader;
}
export const isReader = (userAgent: string | undefined): boolean => userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
