/** Conversion of custom objects by a webhook of the definition's author. */

import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { type ApiError, plainError } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';
import { answeredJson } from '../../admission/webhooks/answer.ts';
import type { WebhookClient } from '../../admission/webhooks/client.ts';
import type { ObserveConversion } from './conversion-metrics.ts';
import { BadObject, restored } from './restore.ts';
import { type ReviewVersion, readReview, reviewText, reviewVersion } from './review.ts';

/** The parts of the server that conversions use. */
export interface ConversionTools {
  readonly identity: Identity;
  readonly client: Pick<WebhookClient, 'post'>;
  readonly newUid: () => string;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly observe: ObserveConversion;
}

/** A version for conversions. */
export interface ConvertedVersion {
  readonly name: string;
  /** `example.com/v1` */
  readonly apiVersion: string;
  readonly schema: MessageType;
}

/** Converts objects from one version to another, in the same order. Rejects with an ApiError. */
export type ConvertObjects = (objects: readonly ApiObject[], from: ConvertedVersion, to: ConvertedVersion) => Promise<ApiObject[]>;

const TIMEOUT_MS = 30_000;
/** Limits of objects and bytes of one call; a larger object has a call of its own. */
const MOST_OBJECTS = 200;
const MOST_BYTES = 1024 * 1024;
/** Limit of parallel calls for one conversion. */
const WIDTH = 4;

type Webhook = NonNullable<NonNullable<CustomResourceDefinition['spec']['conversion']>['webhook']>;

export function webhookConversion(tools: ConversionTools, definition: string, { clientConfig = {}, ...webhook }: Webhook): ConvertObjects {
  const version = reviewVersion(webhook.conversionReviewVersions ?? []);
  return async (objects, from, to) => {
    if (version === undefined) throw plainError('no supported conversion review versions');
    const batches = batchesOf(objects, from.schema);
    const convertedParts: ApiObject[][] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let i = next++; i < batches.length; i = next++) {
        const batch = batches[i] as Batch;
        const began = tools.now();
        const observe = (succeeded: boolean): void =>
          tools.observe(definition, from.name, to.name, succeeded, (tools.now() - began) / 1000);
        try {
          convertedParts[i] = await convert(tools, clientConfig, version, batch, to);
          observe(true);
        } catch (error) {
          observe(false);
          // After a failure no further calls are made.
          next = batches.length;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(WIDTH, batches.length) }, worker));
    return convertedParts.flat();
  };
}

interface Batch {
  readonly objects: ApiObject[];
  readonly texts: string[];
}

function batchesOf(objects: readonly ApiObject[], schema: MessageType): Batch[] {
  const batches: Batch[] = [];
  let bytes = 0;
  for (const object of objects) {
    const text = encode(schema, object);
    bytes += text.length;
    let last = batches.at(-1);
    if (last === undefined || last.objects.length >= MOST_OBJECTS || bytes > MOST_BYTES) {
      last = { objects: [], texts: [] };
      batches.push(last);
      bytes = text.length;
    }
    last.objects.push(object);
    last.texts.push(text);
  }
  return batches;
}

async function convert(
  { identity, client, newUid }: ConversionTools,
  clientConfig: NonNullable<Webhook['clientConfig']>,
  version: ReviewVersion,
  { objects, texts }: Batch,
  to: ConvertedVersion,
): Promise<ApiObject[]> {
  const uid = newUid();
  const { apiVersion, kind } = objects[0] as ApiObject;
  const wrong = (problem: string): ApiError => plainError(`conversion webhook for ${apiVersion}, Kind=${kind} ${problem}`);
  let convertedValues: readonly JsonValue[];
  try {
    const reply = await client.post(clientConfig, reviewText(identity, version, uid, to.apiVersion, texts), TIMEOUT_MS);
    convertedValues = readReview(identity, version, uid, answeredJson(reply));
  } catch (error) {
    throw wrong(`failed: ${(error as Error).message}`);
  }
  if (convertedValues.length !== objects.length) throw wrong(`returned ${convertedValues.length} objects, expected ${objects.length}`);
  return objects.map((original, i) => {
    try {
      return decode(to.schema, restored(original, convertedValues[i], to.apiVersion)) as ApiObject;
    } catch (error) {
      throw wrong(`returned ${fault(error as Error, i, objects.length)}`);
    }
  });
}

/** The message for one object differs from that for one of several. */
function fault(error: Error, index: number, count: number): string {
  const where = error instanceof BadObject ? error.where : 'object';
  if (where === 'metadata') return `invalid metadata${count === 1 ? '' : ` in object at index ${index}`}: ${error.message}`;
  if (count > 1) return `invalid converted object at index ${index}: ${error.message}`;
  return `invalid object${where === 'type' ? ' at index 0' : ''}: ${error.message}`;
}
