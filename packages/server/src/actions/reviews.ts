/** Reviews: questions that are asked by creating an object, whose status is the answer. Nothing is stored. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Identity } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import {
  type AccessReview,
  reviewLocalSubjectAccess,
  reviewSelfAccess,
  reviewSelfRules,
  reviewSubjectAccess,
} from '../auth/review/access.ts';
import { checkAudiences, reviewToken, userInfo } from '../auth/review/token.ts';
import type { Authorizer, TokenAuthenticator } from '../auth/types.ts';
import type { Action, ActionRequest } from '../services.ts';

export interface ReviewOptions {
  readonly identity: Identity;
  readonly authorizer: Authorizer;
  readonly tokens: TokenAuthenticator;
  /** Audiences of this server. */
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function reviewActions(options: ReviewOptions): [string, Action][] {
  const { identity, authorizer } = options;
  const review = (answer: (body: ApiObject & AccessReview, request: ActionRequest) => Promise<unknown>): Action => {
    return async (request) => {
      const body = request.body as ApiObject & AccessReview;
      const { resource, namespace } = request.write;
      if (resource.kind.namespaced) body.metadata.namespace = namespace;
      const hub = (resource.definition.toHub?.(body as never, identity) ?? body) as ApiObject & AccessReview;
      const object = { ...body, status: await answer(hub, request) };
      return { status: 201, object, schema: resource.schema };
    };
  };
  return [
    ['authorization/subjectaccessreviews', review((body) => reviewSubjectAccess(identity, authorizer, body))],
    [
      'authorization/localsubjectaccessreviews',
      review((body, { write }) => reviewLocalSubjectAccess(identity, authorizer, write.namespace, body)),
    ],
    ['authorization/selfsubjectaccessreviews', review((body, { write }) => reviewSelfAccess(identity, authorizer, write.user, body))],
    [
      'authorization/selfsubjectrulesreviews',
      async ({ body, write }) => {
        const { spec, ...rest } = body as ApiObject & { spec?: { namespace?: string } };
        // The question is not repeated in the answer.
        const status = await reviewSelfRules(authorizer, write.user, spec?.namespace ?? '');
        return { status: 201, object: { ...rest, spec: {}, status } as ApiObject, schema: write.resource.schema };
      },
    ],
    [
      'authentication/selfsubjectreviews',
      async ({ body, write }) => {
        const { kind, apiVersion } = body as ApiObject;
        const metadata = { creationTimestamp: formatTime(options.now()) };
        const object = { kind, apiVersion, metadata, status: { userInfo: userInfo(write.user) } };
        return { status: 201, object: object as ApiObject, schema: write.resource.schema };
      },
    ],
    [
      'authentication/tokenreviews',
      review(async (body) => {
        checkAudiences(identity, body.spec as never);
        return reviewToken(options.tokens, options.audiences, body.spec as never);
      }),
    ],
  ];
}
